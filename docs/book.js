/* What doxygen's pages lack for a keyboard, a screen reader and a phone. Most of it is about elements that doxygen's own
   scripts make when a page is opened, so the pages cannot be mended before. */
function label(selector, text) {
    for (const element of document.querySelectorAll(selector)) {
        element.setAttribute("aria-label", text);
    }
}

/* The search field is made late, and once more when the window becomes narrow or wide. */
function label_search() {
    label("#MSearchField", "Search");
    label("#MSearchClose", "Close the search");
}

/* Pages with a word in their text, above what doxygen's search finds: titles and names. */
const MOST_PAGES = 8, AROUND = 40;
function pages_with(word) {
    const places = text_of_pages.map(([title, page, text]) => ({title, page, text, at: text.toLowerCase().indexOf(word)}));
    return places.filter((place) => place.at >= 0).slice(0, MOST_PAGES);
}
function show_pages(word) {
    const list = document.getElementById("words");
    list.replaceChildren();
    for (const {title, page, text, at} of word.length > 2 ? pages_with(word) : []) {
        const item = document.createElement("li"), link = document.createElement("a");
        link.href = page;
        link.textContent = title;
        item.append(link, " \u2026" + text.slice(Math.max(0, at - AROUND), at + word.length + AROUND) + "\u2026");
        list.append(item);
    }
}
function search_text() {
    const list = document.createElement("ul"), script = document.createElement("script");
    list.id = "words";
    document.getElementById("MSearchResultsWindow").prepend(list);
    script.src = "search/words.js";
    const start = () => document.head.append(script);   // with the first letter: most readers do not search
    script.onload = () => show_pages(document.getElementById("MSearchField").value.trim().toLowerCase());
    document.addEventListener("input", (event) => {
        if (event.target.id === "MSearchField") {
            typeof text_of_pages === "undefined" ? start() : show_pages(event.target.value.trim().toLowerCase());
        }
    });
}

/* On a phone the side bar waits for a button. */
function add_contents_button() {
    const button = document.createElement("button");
    const open = (yes) => {
        document.documentElement.classList.toggle("contents-open", yes);
        button.setAttribute("aria-expanded", yes);
    };
    button.id = "contents-button";
    button.textContent = "Contents";
    button.setAttribute("aria-controls", "side-nav");
    button.onclick = () => open(button.getAttribute("aria-expanded") !== "true");
    document.addEventListener("keydown", (event) => event.key === "Escape" && open(false));
    document.getElementById("titlearea").after(button);
    open(false);
}

/* What scrolls can be reached with the keyboard, whatever the width of the window makes of it. */
function make_scrollable_reachable() {
    for (const element of document.querySelectorAll(".contents pre, .contents div.fragment, .contents table, .contents tbody, .contents .center, .contents .memproto")) {
        const scrolls = element.scrollWidth > element.clientWidth && getComputedStyle(element).overflowX !== "visible";
        scrolls ? element.setAttribute("tabindex", "0") : element.removeAttribute("tabindex");
    }
}

window.addEventListener("load", () => {
    add_contents_button();
    label_search();
    search_text();
    new MutationObserver(label_search).observe(document.getElementById("top"), {childList: true, subtree: true});
    label("#nav-tree", "Contents");
    label("#MSearchResults", "Search results");
    label(".contents iframe", "Graph of the files that this one includes");
    document.getElementById("nav-tree")?.setAttribute("role", "navigation");
    make_scrollable_reachable();
    window.addEventListener("resize", make_scrollable_reachable);
});
