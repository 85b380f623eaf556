// Looks at the SVG of a page and puts what is wrong with its labels into the page's title, as JSON.
(() => {
    const svg = document.querySelector("svg"), page = svg.getBoundingClientRect(), found = [];
    const texts = [...svg.querySelectorAll("text")].filter(text => text.textContent.trim() && text.getBoundingClientRect().width > 0);
    const name = text => JSON.stringify(text.textContent.trim().slice(0, 60));

    // Where a text has ink: its cell without the room above capitals and a hair of the rest.
    const inkOf = text => {
        const box = text.getBoundingClientRect(), turned = box.height > box.width && text.textContent.trim().length > 2;
        const low = turned ? box.width : box.height;
        return {left: box.left + (turned ? 0.1 * low : 0.5), right: box.right - (turned ? 0.05 * low : 0.5),
                top: box.top + (turned ? 0.5 : 0.18 * low), bottom: box.bottom - (turned ? 0.5 : 0.05 * low)};
    };
    const inks = new Map(texts.map(text => [text, inkOf(text)]));
    const meet = (a, b, far = 0) => a.left < b.right + far && b.left < a.right + far && a.top < b.bottom + far && b.top < a.bottom + far;

    const style = element => getComputedStyle(element);
    const drawn = element => !element.closest("defs, clipPath, marker, symbol, pattern") && style(element).visibility !== "hidden";
    const filled = element => style(element).fill !== "none" && Number(style(element).fillOpacity) > 0;
    const opaque = element => filled(element) && Number(style(element).fillOpacity) > 0.95 && Number(style(element).opacity) > 0.95;
    const stroked = element => style(element).stroke !== "none" && parseFloat(style(element).strokeWidth) > 0;
    const after = (a, b) => Boolean(b.compareDocumentPosition(a) & Node.DOCUMENT_POSITION_FOLLOWING);

    // Whether something opaque lies over the shape at this place, and under the text.
    const covered = (shape, text, x, y) => document.elementsFromPoint(x, y).some(
        above => above !== shape && above instanceof SVGGeometryElement && opaque(above) && after(above, shape) && after(text, above));

    const strikes = (shape, text) => {
        const ink = inks.get(text), matrix = shape.getScreenCTM();
        const half = stroked(shape) ? parseFloat(style(shape).strokeWidth) * Math.hypot(matrix.a, matrix.b) / 2 : 0;
        const length = shape.getTotalLength(), steps = Math.min(Math.ceil(2 * length), 20000);
        for (let i = 0; i <= steps; i++) {
            const {x, y} = shape.getPointAtLength(length * i / Math.max(steps, 1)).matrixTransform(matrix);
            if (meet(ink, {left: x, right: x, top: y, bottom: y}, half) && !covered(shape, text, x, y)) {
                return true;
            }
        }
        return false;
    };

    for (const text of texts) {
        const box = text.getBoundingClientRect();
        if (box.left < page.left || box.right > page.right || box.top < page.top - 1 || box.bottom > page.bottom + 1) {
            found.push(`${name(text)} is cut off at the edge`);
        }
    }
    texts.forEach((a, i) => texts.slice(i + 1).forEach(b => {
        if (meet(inks.get(a), inks.get(b))) {
            found.push(`${name(a)} and ${name(b)} lie on each other`);
        }
    }));
    for (const shape of svg.querySelectorAll("path, line, polyline, polygon, rect, circle, ellipse, use")) {
        const box = shape.getBoundingClientRect();
        if (!drawn(shape) || !(shape instanceof SVGUseElement || filled(shape) || stroked(shape))) {
            continue;
        }
        for (const text of texts.filter(text => meet(inks.get(text), box, 3))) {
            const ink = inks.get(text);
            if (shape instanceof SVGUseElement ? meet(ink, box, -1) : strikes(shape, text)) {
                found.push(`${name(text)} is struck through by a ${shape.tagName} at ${Math.round(box.left - page.left)}, ` +
                           `${Math.round(box.top - page.top)}`);
            }
            const around = ink.left >= box.left && ink.right <= box.right && ink.top >= box.top && ink.bottom <= box.bottom;
            if (around && shape instanceof SVGGeometryElement && opaque(shape) && after(shape, text) &&
                document.elementsFromPoint((ink.left + ink.right) / 2, (ink.top + ink.bottom) / 2).includes(shape)) {
                found.push(`${name(text)} is hidden by a ${shape.tagName}`);
            }
        }
    }
    document.title = JSON.stringify({texts: texts.length, found: [...new Set(found)],
                                     named: [...svg.children].filter(child => ["title", "desc"].includes(child.tagName) && child.textContent.trim())
                                                             .map(child => `${child.tagName}: ${child.textContent.trim()}`)});
})();
