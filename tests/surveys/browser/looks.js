// What is looked at in every state of the page, in all browsers. This file is one expression: functions that run in the page.
({
  // What is wrong with a state: of the size and the colours that were asked for, nothing to scroll to at the side, large
  // targets, the direction of the language, and the focus at the heading. Links inside sentences may be as high as their line
  // (WCAG 2.2, 2.5.8); an answer is as large as its label.
  faults({ atHeading, colours, direction, width }) {
    const { documentElement: root, activeElement } = document;
    const shown = { dark: matchMedia("(prefers-color-scheme: dark)").matches, forced: matchMedia("(forced-colors: active)").matches };
    const small = [...document.querySelectorAll("a[href], button, input, select, summary")].filter((element) => {
      if (!element.checkVisibility()) return false;
      const inSentence = element.matches("a:not(.button)") && element.parentElement.innerText !== element.innerText;
      const box = (element.closest("label") ?? element).getBoundingClientRect();
      return !inSentence && (box.width < 24 || box.height < 24);
    });
    return [
      innerWidth === width ? null : `the window is ${innerWidth} pixels wide`,
      shown.forced === (colours === "forced") && (shown.forced || shown.dark === (colours === "dark")) ? null : "other colours",
      root.scrollWidth > width ? `the page is ${root.scrollWidth} pixels wide` : null,
      root.dir === direction ? null : `the direction is "${root.dir}"`,
      atHeading && activeElement !== document.querySelector("main h1") ? "the heading has no focus" : null,
      ...small.map((element) => `a small target: ${element.outerHTML}`),
    ].filter(Boolean);
  },

  // What axe finds, by all rules or by some.
  async findings({ rules }) {
    const { violations } = await axe.run({ resultTypes: ["violations"], ...(rules && { runOnly: { type: "rule", values: rules } }) });
    const told = ({ html, failureSummary }) => `${html} ${failureSummary}`;
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(told).join(" ")}`);
  },

  // Whether the focus is at an element, and can be seen.
  focus({ at }) {
    const { activeElement } = document;
    const outlined = [activeElement, activeElement.closest(".option")].some((element) =>
      element && getComputedStyle(element).outlineStyle !== "none");
    return { there: activeElement.matches(at), seen: outlined && document.hasFocus() };
  },

  visible: ({ wanted }) => [...document.querySelectorAll(wanted)].some((element) =>
    element.checkVisibility({ visibilityProperty: true })),
  count: ({ selector }) => document.querySelectorAll(selector).length,
  axeIsThere: () => "axe" in window,
})
