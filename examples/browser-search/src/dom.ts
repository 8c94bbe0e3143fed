/*
 * Making elements, in HTML and SVG. Text is always set as text, so nothing that was indexed becomes markup.
 */

type Attributes = Readonly<Record<string, string | number>>;
type Child = Node | string;

/** An HTML element. */
export function html(name: string, attributes: Attributes = {}, ...children: Child[]): HTMLElement {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element. */
export function svg(name: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/** The element of the page with this id. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element as T;
}

function fill<T extends Element>(
  element: T,
  attributes: Attributes,
  children: readonly Child[],
): T {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}
