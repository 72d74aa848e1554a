/**
 * Draws the page from the JSON in it. The files beside this one hold the parts; the build joins
 * them into one script.
 */

/**
 * The JSON of an element of the page.
 * @param {string} id
 * @returns {*} undefined: there is none
 */
function embedded(id) {
  const data = document.getElementById(id);
  return data ? JSON.parse(data.textContent) : undefined;
}

/** Draws the page. Where that fails, the page shows its JSON instead. */
function drawPage() {
  const main = document.querySelector("main");
  try {
    const runs = embedded("runs");
    const batch = embedded("batch");
    if (runs) {
      drawRuns(main, runs);
    } else if (batch) {
      drawBatch(main, batch);
    } else {
      drawReport(main, embedded("report"), embedded("pictures") ?? []);
    }
  } catch (error) {
    document.documentElement.classList.add("undrawn");
    main.replaceChildren(element("p", { class: "verdict" },
      `This page could not be drawn (${error}). Its data follow as JSON.`));
    throw error;
  }
}

drawPage();
