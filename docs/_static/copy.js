// A button on every block that can be run: copies its commands, without prompts and output.

const SHOWN_MS = 1500;

/** Returns the text to copy: everything but prompts and output, which the highlighter has marked. */
function commandsOf(block) {
  const copy = block.cloneNode(true);
  const hasPrompts = copy.querySelector(".gp") !== null;
  copy.querySelectorAll(".gp, .go, .gt").forEach((part) => part.remove());
  const text = copy.textContent.replace(/\s+$/, "") + "\n";
  // Lines of output leave empty lines behind.
  return hasPrompts ? text.replace(/\n{2,}/g, "\n").replace(/^\n/, "") : text;
}

document.querySelectorAll(".highlight-sh, .highlight-console, .highlight-python, .highlight-pycon").forEach((place) => {
  const block = place.querySelector("pre");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(commandsOf(block));
      button.textContent = "Copied";
    } catch {
      // Without permission, the text is selected for the keyboard.
      getSelection().selectAllChildren(block);
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
  });
  place.append(button);
});
