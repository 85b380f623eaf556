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
    for (const element of document.querySelectorAll(".contents pre, .contents div.fragment, .contents table, .contents .center, .contents .memproto")) {
        const scrolls = element.scrollWidth > element.clientWidth && getComputedStyle(element).overflowX !== "visible";
        scrolls ? element.setAttribute("tabindex", "0") : element.removeAttribute("tabindex");
    }
}

window.addEventListener("load", () => {
    add_contents_button();
    label_search();
    new MutationObserver(label_search).observe(document.getElementById("top"), {childList: true, subtree: true});
    label("#nav-tree", "Contents");
    label("#MSearchResults", "Search results");
    label(".contents iframe", "Graph of the files that this one includes");
    document.getElementById("nav-tree")?.setAttribute("role", "navigation");
    make_scrollable_reachable();
    window.addEventListener("resize", make_scrollable_reachable);
});
