/**
 * Elements of the page. Text from the report becomes text nodes and attribute values only, never
 * markup, so that no name in a report can change the page.
 */

/**
 * Sets attributes and appends children.
 * @param {Element} node
 * @param {Object<string, string|number|boolean>} attributes false: left out; true: without a value
 * @param {(Node|string|number|null)[]} children null: left out
 * @returns {Element} `node`
 */
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/**
 * An HTML element.
 * @param {string} tag
 * @param {Object<string, string|number|boolean>} [attributes]
 * @param {...(Node|string|number|null)} children
 * @returns {HTMLElement}
 */
function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * An SVG element.
 * @param {string} tag
 * @param {Object<string, string|number|boolean>} [attributes]
 * @param {...(Node|string|number|null)} children
 * @returns {SVGElement}
 */
function svgElement(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/**
 * A part of the page under a heading.
 * @param {string} title
 * @param {...(Node|string|null)} children
 * @returns {HTMLElement}
 */
function section(title, ...children) {
  return element("section", {}, element("h2", {}, title), ...children);
}

/**
 * A note in small print.
 * @param {string} text
 * @returns {HTMLElement}
 */
function note(text) {
  return element("p", { class: "small" }, text);
}

/**
 * A table that scrolls sideways where it has no room.
 * @param {string[]} heads
 * @param {(Node|string|number)[][]} rows
 * @returns {HTMLElement}
 */
function table(heads, rows) {
  const line = (tag, cells) => element("tr", {}, ...cells.map((cell) => element(tag, {}, cell)));
  return element("div", { class: "wide" }, element("table", {},
    element("thead", {}, line("th", heads)),
    element("tbody", {}, ...rows.map((cells) => line("td", cells)))));
}

/**
 * Names and their values, which may be long.
 * @param {[string, string][]} pairs
 * @returns {HTMLElement}
 */
function facts(pairs) {
  return element("table", { class: "facts" }, ...pairs.map(([name, value]) =>
    element("tr", {}, element("th", {}, name), element("td", {}, value))));
}

/**
 * A colour key: a square of the class' colour and its label.
 * @param {string} name
 * @param {string} label
 * @returns {HTMLElement}
 */
function key(name, label) {
  return element("span", {}, element("i", { class: name }), label);
}

/**
 * A horizontal bar: a label, coloured pieces and a value.
 * @param {string} label
 * @param {{name: string, part: number, title: (string|undefined)}[]} pieces their class, their
 *   share of the full width
 * @param {string} value
 * @returns {HTMLElement}
 */
function barLine(label, pieces, value) {
  const drawn = pieces.map(({ name, part, title }) => element("i", {
    class: name, style: `width:${decimalText(100 * part, 2)}%`, title: title ?? false,
  }));
  return element("div", { class: "stack" }, element("span", { title: label }, label),
    element("b", {}, ...drawn), element("span", {}, value));
}

/**
 * What share `part` is of `whole`; 0 where there is nothing.
 * @param {number} part
 * @param {number} whole
 * @returns {number}
 */
function shareOf(part, whole) {
  return whole > 0 ? part / whole : 0;
}
