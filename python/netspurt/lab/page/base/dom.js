// Elements in one line.

export const $ = (id) => document.getElementById(id);

// el("button.main", { type: "button", onclick }, "text", child): a tag with classes, properties, children.
export function el(name, properties = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key.startsWith("on") || key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const press = (button, on) => button.setAttribute("aria-pressed", String(on));

// A short notice in the corner; screen readers read it out.
let timer = 0;
export function say(words) {
  const place = $("said");
  place.textContent = words;
  place.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => place.classList.remove("shown"), 2500);
}

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
