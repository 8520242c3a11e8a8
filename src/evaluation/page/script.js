for (const both of document.querySelectorAll(".both")) {
  const over = both.querySelector(".over");
  over.style.resize = "none";
  const slider = document.createElement("input");
  slider.type = "range";
  slider.min = 0;
  slider.max = 100;
  slider.step = "any";
  slider.value = 50;
  slider.setAttribute("aria-label", "edge between both pictures");
  slider.addEventListener("input", () => (over.style.width = slider.value + "%"));
  both.append(slider);
  both.addEventListener("pointermove", (event) => {
    if (event.target === slider || !(event.buttons & 1)) return;
    const box = both.getBoundingClientRect();
    slider.value = (100 * (event.clientX - box.left)) / box.width;
    over.style.width = slider.value + "%";
  });
}
