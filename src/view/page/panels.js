// Bars, panel, dialogs and marks on the picture: what they show and what their controls set.

import * as camera from "./camera.js";

// Matplotlib's viridis at eighths of the scale, as the server colours layers and maps.
const VIRIDIS = ["#440154", "#472c7a", "#3b518b", "#2c718e", "#21908d", "#27ad81", "#5cc863", "#aadc32", "#fde725"];
const TABS = ["view", "compare", "map", "pixel", "path"];
const COMPARISONS = ["single", "split", "blink", "difference"];
const AXES = { "+X": [1, 0, 0], "-X": [-1, 0, 0], "+Y": [0, 1, 0], "-Y": [0, -1, 0], "+Z": [0, 0, 1], "-Z": [0, 0, -1] };
const NOTE_MS = 6000;
const NOTES = 3; // Notes that are shown at once.

const $ = (id) => document.getElementById(id);
const on = (id, action, event = "click") => $(id).addEventListener(event, action);
const text = (id, value) => {
  if ($(id).textContent !== value) $(id).textContent = value;
};
const number = (value, digits = 5) => (value === null || value === undefined ? "–" : String(+value.toPrecision(digits)));
const numbers = (values, digits) => values.map((value) => number(value, digits)).join(", ");
const title = (name) => name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");

// Creates an element with a text or children.
function make(tag, content, properties = {}) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...[content].flat());
  return element;
}

function options(id, pairs, value) {
  $(id).replaceChildren(...pairs.map(([key, label]) => make("option", label, { value: key })));
  $(id).value = value;
}

// Writes a field unless somebody types in it.
function field(id, value) {
  if (document.activeElement !== $(id)) $(id).value = value;
}

// Numbers of a field, or null, in which case the field is marked.
function parsed(id, count, fits) {
  const values = $(id).value.split(/[\s,;]+/).filter(Boolean).map(Number);
  const valid = values.length === count && values.every(Number.isFinite) && fits(values);
  $(id).setAttribute("aria-invalid", String(!valid));
  return valid ? values : null;
}

const swatch = (rgb8) => {
  const mark = make("span", "", { className: "swatch" });
  mark.style.background = `rgb(${rgb8.map((c) => Math.round(Math.min(Math.max(c, 0), 255))).join(" ")})`;
  return mark;
};

function list(id, pairs) {
  $(id).replaceChildren(...pairs.flatMap(([name, value]) => [make("dt", name), make("dd", value)]));
}

export function createPanels(app) {
  const narrow = matchMedia("(max-width: 699px)");
  const run = (action) => () => app.attempt(action);
  let tab = "view";
  let metrics = null;
  let shownProbe = null;
  let queued = false;

  // ---- Tabs and folding ----

  function fold(folded) {
    document.body.classList.toggle("folded", folded);
    $("fold").setAttribute("aria-expanded", String(!folded));
    for (const name of TABS) {
      const selected = name === tab;
      $(`tab-${name}`).setAttribute("aria-selected", String(selected && !(folded && narrow.matches)));
      $(`tab-${name}`).tabIndex = selected ? 0 : -1;
      $(`panel-${name}`).hidden = !selected || folded;
    }
    $("panel").hidden = folded && !narrow.matches;
  }
  function open(name) {
    tab = name;
    fold(false);
  }
  for (const name of TABS) {
    on(`tab-${name}`, () => {
      const again = tab === name && !document.body.classList.contains("folded");
      tab = name;
      fold(again && narrow.matches);
    });
  }
  on("tabs", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: TABS.length - 1 }[event.key];
    if (!step) return;
    open(TABS[(TABS.indexOf(tab) + step) % TABS.length]);
    $(`tab-${tab}`).focus();
  }, "keydown");
  on("fold", () => fold(!document.body.classList.contains("folded")));
  narrow.addEventListener("change", () => fold(narrow.matches));
  fold(narrow.matches);

  // ---- Top bar ----

  on("view-previous", () => step(-1));
  on("view-next", () => step(1));
  function step(by) {
    const count = app.welcome?.views.length;
    if (!count) return;
    const from = app.view ?? app.lens ?? (by > 0 ? -1 : 0);
    app.goView((from + by + count) % count);
  }
  function listViews() {
    const wanted = $("view-search").value.toLowerCase();
    const items = (app.welcome?.views ?? []).flatMap(({ name, name_in_file: inFile }, index) => {
      const label = `${index}  ${name}${inFile && inFile !== name ? ` (${inFile})` : ""}`;
      if (!label.toLowerCase().includes(wanted)) return [];
      const button = make("button", label, { type: "button" });
      button.onclick = () => {
        $("views").hidePopover();
        app.goView(index);
      };
      return [make("li", button)];
    });
    $("view-items").replaceChildren(...(items.length ? items : [make("li", "No view matches.")]));
  }
  on("view-search", listViews, "input");
  on("views", (event) => event.newState === "open" && (listViews(), $("view-search").focus()), "toggle");
  app.setMode = (mode) => {
    app.mode = mode;
    app.refresh();
  };
  on("mode-orbit", () => app.setMode("orbit"));
  on("mode-fly", () => app.setMode("fly"));
  on("open-compare", () => open("compare"));
  on("toggle-map", () => (app.map ? app.hideMap() : showMap()));
  on("save", run(() => {
    if (app.mapHere()) return app.save("map");
    return app.save(app.mode2() === "difference" ? "difference" : app.mode2() === "blink" ? app.side : "a");
  }));
  on("open-help", () => $("help-dialog").showModal());
  for (const button of document.querySelectorAll("dialog .close")) {
    button.onclick = () => button.closest("dialog").close();
  }

  // ---- Copy ----

  let cameras = "";
  on("open-copy", run(async () => {
    if (!app.welcome) return;
    $("copy-link").value = app.link();
    const [w, h] = app.pictureSize();
    for (const id of ["copy-render", "copy-sim"]) $(id).value = "";
    $("copy-dialog").showModal();
    const answer = await app.request({ t: "flags", cam: app.cam(), w, h });
    ({ render: $("copy-render").value, sim: $("copy-sim").value, cameras } = answer);
  }));
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.onclick = async () => {
      const source = $(button.dataset.copy);
      source.select();
      // The clipboard is closed to pages without https beyond localhost; the selection is left.
      const copied = await navigator.clipboard?.writeText(source.value).then(() => true, () => false);
      const label = button.textContent;
      button.textContent = copied ? "Copied" : "Selected: press the keys that copy";
      setTimeout(() => (button.textContent = label), 1500);
    };
  }
  on("save-cameras", () => cameras && app.download(cameras, "cameras.json"));

  // ---- View ----

  for (const name of ["eye", "target", "up"]) {
    on(name, () => {
      const value = parsed(name, 3, (entry) => camera.isValid({ ...app.pose, [name]: entry }));
      if (value) app.moveBy((pose) => ({ ...pose, [name]: value }));
    }, "change");
  }
  on("fov", () => {
    const value = parsed("fov", 1, ([fov]) => fov > 0 && fov < 180);
    if (!value) return;
    app.interrupt();
    app.setPose({ ...app.pose, fov: value[0] }, null, null);
  }, "change");
  on("home", () => app.goHome());
  on("level", () => app.moveBy(camera.level, app.up));
  on("roll-left", () => app.moveBy(camera.roll, -Math.PI / 36));
  on("roll-right", () => app.moveBy(camera.roll, Math.PI / 36));
  app.centreHere = () => {
    const [w, h] = app.pictureSize();
    const { x, y } = app.cursor ?? { x: w / 2, y: h / 2 };
    return app.attempt(() => app.centreAt(x, y));
  };
  on("centre", app.centreHere);
  on("world-up", () => {
    const choice = $("world-up").value;
    app.up = AXES[choice] ?? (choice === "view" ? camera.axes(app.pose).up : app.welcome.up);
    if (choice !== "view") app.moveBy(camera.level, app.up);
  }, "change");
  on("speed", () => (app.speed = 10 ** Number($("speed").value)), "input");

  const sources = () => app.welcome.scenes.map(({ name }, index) => [String(index), name]);
  for (const side of ["a", "b"]) {
    for (const key of ["scene", "profile", "layer", "renderer"]) {
      on(`${side}-${key}`, () => {
        const value = $(`${side}-${key}`).value;
        if (key !== "scene") app[side][key] = value || null;
        else if (value === "photo") app.b = { photo: true };
        else if (value === "") app.b = null;
        else app[side] = { ...(app[side]?.photo ? app.a : app[side] ?? app.a), scene: Number(value) };
        if (side === "b" && app.b && app.compare === "single") app.compare = "split";
        app.changed();
      }, "change");
    }
  }
  on("size", () => {
    const [w, h] = app.pictureSize();
    app.size = { mode: $("size").value, width: w, height: h };
    app.draw();
    app.changed();
  }, "change");
  for (const name of ["width", "height"]) {
    on(name, () => {
      const { min_side: least, max_side: most, max_pixels: pixels } = app.welcome.limits;
      const other = app.size[name === "width" ? "height" : "width"];
      const fits = ([value]) => Number.isInteger(value) && value >= least && value <= most && value * other <= pixels;
      const value = parsed(name, 1, fits);
      if (!value) return app.note(`A picture has sides of ${least} to ${most} and at most ${pixels} pixels.`, true);
      app.size[name] = value[0];
      app.changed();
    }, "change");
  }
  for (const name of ["scale", "quality"]) {
    on(`pace-${name}`, () => {
      const value = $(`pace-${name}`).value;
      app.pace[name] = value === "auto" ? value : Number(value);
      app.send({ t: "pace", ...app.pace });
    }, "change");
  }

  // ---- Compare ----

  app.setCompare = (mode) => {
    if (mode !== "single" && !app.b) {
      open("compare");
      return app.note("Choose the source of picture B first.");
    }
    app.compare = mode;
    app.changed();
  };
  for (const mode of COMPARISONS) on(`mode-${mode}`, () => app.setCompare(mode));
  app.setSplit = (split) => {
    app.split = Math.min(Math.max(split, 0), 1);
    app.draw();
  };
  const showSide = (side) => {
    if (!app.b) return app.setCompare("blink");
    app.side = side;
    if (app.compare === "blink") app.draw();
    else app.setCompare("blink");
    app.refresh();
  };
  on("blink", (event) => {
    // A finger holds the button instead, below.
    if (event.pointerType !== "touch") showSide(app.compare === "blink" && app.side === "b" ? "a" : "b");
  });
  on("blink", (event) => event.pointerType === "touch" && showSide("b"), "pointerdown");
  for (const end of ["pointerup", "pointercancel"]) {
    on("blink", (event) => event.pointerType === "touch" && showSide("a"), end);
  }
  on("gain", () => {
    app.gain = 2 ** Number($("gain").value);
    app.changed();
  }, "input");
  on("measure", run(async () => {
    const of = app.still;
    metrics = { of, ...(await app.request({ t: "measure" })) };
    app.refresh();
  }));
  for (const what of ["a", "b", "difference", "map"]) on(`save-${what}`, run(() => app.save(what)));

  // ---- Map ----

  const showMap = () => {
    if (!app.welcome) return;
    open("map");
    app.showMap({ map: $("map-kind").value, variant: $("map-variant").value, pinned: $("map-pinned").checked });
  };
  on("map-show", showMap);
  on("map-cancel", () => app.hideMap());
  on("inset-go", () => app.goCam(app.map.cam));

  // ---- Pixel ----

  on("probe", () => {
    const [w, h] = app.pictureSize();
    app.cursor = app.cursor ? null : { x: Math.floor(w / 2), y: Math.floor(h / 2) };
    $("stage").focus();
    if (app.cursor) app.attempt(() => app.probeAndOpen(app.cursor.x, app.cursor.y));
    app.refresh();
  });
  app.probeAndOpen = async (x, y) => {
    await app.probeAt(x, y);
    open("pixel");
  };
  // While a probe is on its way the cursor moves on; only its last place is asked for.
  let busy = false;
  app.moveCursor = async (dx, dy) => {
    const [w, h] = app.pictureSize();
    const inside = (value, size) => Math.min(Math.max(value, 0), size - 1);
    app.cursor = { x: inside(app.cursor.x + dx, w), y: inside(app.cursor.y + dy, h) };
    app.refresh();
    if (busy) return;
    busy = true;
    for (let asked = null; app.cursor && asked !== app.cursor; ) {
      asked = app.cursor;
      await app.attempt(() => app.probeAt(asked.x, asked.y));
    }
    busy = false;
  };
  on("pixel-focus", () => app.glide(camera.focus(app.pose, app.probe.point), null, app.view ?? app.lens));

  function showProbe() {
    const { probe } = app;
    if (!probe || probe === shownProbe) return;
    shownProbe = probe;
    $("pixel").hidden = false;
    $("pixel-focus").hidden = !probe.point;
    list("pixel-values", [
      ["Pixel", `${probe.x}, ${probe.y}`],
      ["Colour", [swatch(probe.rgb8), probe.rgb8.join(", ")]],
      ["Linear", numbers(probe.rgb)],
      ["Alpha", number(probe.alpha)],
      ["Mean depth", number(probe.depth)],
      ["Median depth", number(probe.depth_median)],
      ["Fragments", number(probe.count)],
      ...Object.entries(probe.maps ?? {}).map(([name, value]) => [title(name), number(value)]),
    ]);
    const rows = probe.splats.map(({ index, weight, alpha, depth, rgb }) => {
      const colour = [swatch(rgb.map((c) => 255 * c)), numbers(rgb, 2)];
      const cells = [String(index), number(weight, 3), number(alpha, 3), number(depth, 4), colour];
      return make("tr", cells.map((cell) => make("td", cell)));
    });
    $("splats").replaceChildren(...rows);
    const { rest_count: rest, rest_weight: weight } = probe;
    text("rest", rest > 0 ? `${rest} more splats weigh ${number(weight, 3)} together.` : "");
  }

  // ---- Path ----

  on("key-add", () => {
    if (!app.pose) return;
    app.keys.push({ ...app.cam(), seconds: app.keys.length ? 2 : 0 });
    listKeys();
  });
  on("play", run(() => (app.playing ? app.stop() : app.play())));
  on("path-save", run(async () => {
    const answer = await app.request({ t: "fly", keys: app.keys, fps: app.fps });
    app.download(answer.camera_path, "camera_path.json");
  }));
  on("fps", () => {
    const value = parsed("fps", 1, ([fps]) => fps > 0 && fps <= 240);
    if (value) app.fps = value[0];
  }, "change");

  function listKeys() {
    const { keys } = app;
    if (keys.length) keys[0].seconds = 0;
    const items = keys.map((key, index) => {
      const name = key.view !== undefined ? app.welcome.views[key.view].name : numbers(key.eye, 3);
      const input = make("input", "", { value: key.seconds, inputMode: "decimal", disabled: index === 0 });
      input.setAttribute("aria-label", `Seconds before key ${index + 1}`);
      input.onchange = () => {
        const value = Number(input.value);
        const valid = value > 0 && value <= 3600;
        input.setAttribute("aria-invalid", String(!valid));
        if (valid) key.seconds = value;
        app.refresh();
      };
      const button = (label, what, action, disabled) => {
        const made = make("button", label, { type: "button", title: what, disabled, onclick: action });
        made.setAttribute("aria-label", `${what} ${index + 1}`);
        return made;
      };
      const swap = (a, b) => () => {
        [keys[a], keys[b]] = [keys[b], keys[a]];
        for (const moved of [keys[a], keys[b]]) moved.seconds ||= 2;
        listKeys();
      };
      return make("li", [
        make("span", `${index + 1}  ${name}`),
        input,
        button("Go", "Go to key", () => app.goCam(key)),
        button("↑", "Move up key", swap(index, index - 1), index === 0),
        button("↓", "Move down key", swap(index, index + 1), index === keys.length - 1),
        button("×", "Delete key", () => {
          keys.splice(index, 1);
          listKeys();
        }),
      ]);
    });
    $("keys").replaceChildren(...items);
    app.refresh();
  }

  app.escape = () => {
    if (app.playing) app.stop();
    else if (app.map) app.hideMap();
    else app.cursor = null;
    app.refresh();
  };

  // ---- Notes ----

  app.note = (message, fault = false) => {
    const same = [...$("notes").children].find((note) => note.firstChild.textContent === message);
    same?.remove();
    const close = make("button", "×", { type: "button", onclick: () => note.remove() });
    close.setAttribute("aria-label", "Close the message");
    const note = make("div", [make("span", message), close], { className: fault ? "note fault" : "note" });
    $("notes").append(note);
    if (!fault) setTimeout(() => note.remove(), NOTE_MS);
    while ($("notes").children.length > NOTES) $("notes").firstChild.remove();
  };

  // ---- What is shown ----

  const pressed = (id, state) => $(id).setAttribute("aria-pressed", String(state));

  function fill() {
    const { scenes, views, profiles, layers, variants, maps, version, commit } = app.welcome;
    text("scene", scenes[0].name);
    document.title = `${scenes[0].name} – quadrille`;
    const photo = views.some((view) => view.photo) ? [["photo", "Photo of the view"]] : [];
    options("a-scene", sources());
    options("b-scene", [["", "Nothing"], ...sources(), ...photo]);
    const own = [["", `Of the scene (${scenes[0].profile})`], ...profiles.map((name) => [name, name])];
    const emulated = variants.map((name) => [`emulated:${name}`, `Emulated GPU, ${name}`]);
    for (const side of ["a", "b"]) {
      options(`${side}-profile`, own);
      options(`${side}-layer`, [["", "Colours"], ...layers.map((name) => [name, title(name)])]);
      options(`${side}-renderer`, [["cpu", "Fast"], ["reference", "Reference (still only)"], ...emulated]);
    }
    options("map-kind", maps.map((map) => [map.name, map.title]), $("map-kind").value || maps[0]?.name);
    options("map-variant", variants.map((name) => [name, name]), variants.at(-1));
    $("a-scene-row").hidden = scenes.length < 2;
    for (const id of ["view-list", "view-previous", "view-next"]) $(id).disabled = !views.length;
    const about = scenes.map(({ name, splats, sh_degree: sh }) => `${name}: ${splats.toLocaleString("en")} splats, SH ${sh}.`);
    text("about", `${about.join(" ")} quadrille ${version} (${commit}).`);
  }
  const up = [["scene", "Of the scene"], ...Object.keys(AXES).map((name) => [name, name]), ["view", "Up of this view"]];
  options("world-up", up, "scene");
  options("size", [["window", "Window"], ["camera", "Camera's"], ["custom", "Width × height"]], "window");
  options("pace-scale", [["auto", "Automatic"], ["1", "Full"], ["0.75", "3/4"], ["0.5", "1/2"], ["0.375", "3/8"], ["0.25", "1/4"]], "auto");
  options("pace-quality", [["auto", "Automatic"], ["50", "50"], ["70", "70"], ["90", "90"]], "auto");

  function update() {
    queued = false;
    updateBar();
    if (!app.pose) return;
    const { pose, view, a, b, map } = app;
    const listed = view ?? app.lens;
    text("view-list", !app.welcome.views.length ? "No views" : listed === null ? "Views" : `${view === null ? "near " : ""}${app.welcome.views[listed].name}`);
    pressed("mode-orbit", app.mode === "orbit");
    pressed("mode-fly", app.mode === "fly");
    $("joystick").hidden = app.mode !== "fly" || !matchMedia("(pointer: coarse)").matches;
    for (const name of ["eye", "target", "up"]) field(name, numbers(pose[name]));
    field("fov", number(pose.fov));
    field("speed", Math.log10(app.speed));
    for (const [side, source] of [["a", a], ["b", b]]) {
      const rendered = source && !source.photo;
      $(`${side}-scene`).value = source?.photo ? "photo" : source ? String(source.scene) : "";
      for (const key of ["profile", "layer", "renderer"]) {
        $(`${side}-${key}`).disabled = !rendered;
        if (rendered) $(`${side}-${key}`).value = source[key] ?? "";
      }
    }
    $("size").value = app.size.mode;
    $("custom-size").hidden = app.size.mode !== "custom";
    field("width", app.size.width);
    field("height", app.size.height);
    updateCompare();
    updateMap(map);
    updateMarks();
    showProbe();
    pressed("probe", app.cursor !== null);
    const seconds = app.keys.reduce((sum, key) => sum + key.seconds, 0);
    for (const id of ["play", "path-save"]) $(id).disabled = app.keys.length < 2;
    text("play", app.playing ? "Stop" : "Play");
    if (app.keys.length > 1) text("path-text", `${app.keys.length} keys, ${number(seconds)} s. Each key states the seconds since the key before it.`);
  }
  app.refresh = () => {
    if (queued) return;
    queued = true;
    requestAnimationFrame(update);
  };

  function updateBar() {
    const { state, stats, still } = app;
    const still2 = still?.progress ?? null;
    const { scale, quality, w, h, render, encode, bytes, latency } = stats;
    text("badge", ["EXACT", "LOST", "CONNECTING"].includes(state) ? state : "PREVIEW");
    const preview = scale ? [scale === "1" ? "" : scale, quality ? `JPEG ${quality}` : ""].filter(Boolean).join(", ") : "";
    text("badge-note", still2 !== null && state === "SETTLING" ? `${Math.round(100 * still2)} %` : state === "EXACT" ? "" : state === "PLAYING" ? `${preview}, playing` : preview);
    $("still-cancel").hidden = still2 === null || state !== "SETTLING";
    if (!scale) return;
    const zoom = app.factor === 1 ? "" : ` at ${Math.round(100 * app.factor)} %`;
    text("stat-size", `${$("canvas").width} × ${$("canvas").height}${zoom}`);
    text("stat-fps", `${app.rate()} frames/s`);
    text("stat-times", `render ${number(render / 1000, 3)} ms, encode ${number(encode / 1000, 3)} ms`);
    text("stat-bytes", `${number(bytes / 1000, 3)} KB`);
    text("stat-latency", `drawn after ${Math.round(latency)} ms`);
  }
  on("still-cancel", () => app.cancelStill());

  function updateCompare() {
    const { b, compare } = app;
    for (const mode of COMPARISONS) {
      pressed(`mode-${mode}`, compare === mode);
      $(`mode-${mode}`).disabled = !b && mode !== "single";
    }
    pressed("blink", compare === "blink" && app.side === "b");
    $("photo-note").hidden = !b?.photo || app.mode2() === compare;
    field("gain", Math.log2(app.gain));
    text("gain-value", `× ${app.gain}`);
    const both = app.mode2() !== "single" && app.state === "EXACT";
    for (const id of ["measure", "save-b", "save-difference"]) $(id).disabled = !both;
    const fresh = metrics && metrics.of === app.still;
    const { psnr_db: psnr, ssim, flip } = metrics ?? {};
    list("metrics", fresh ? [["PSNR", psnr === null ? "equal pictures" : `${psnr.toFixed(2)} dB`], ["SSIM", ssim.toFixed(5)], ["FLIP", flip.toFixed(5)]] : []);
  }

  function updateMap(map) {
    pressed("toggle-map", map !== null);
    const { info, picture } = map ?? {};
    $("map-progress").hidden = !map || Boolean(picture);
    $("map-progress").value = map?.progress ?? 0;
    $("map-cancel").disabled = !map;
    text("map-cancel", picture ? "Hide map" : "Cancel");
    $("save-map").disabled = !picture || app.state !== "EXACT";
    text("map-text", !map ? "An emulator run takes seconds; the picture stays usable meanwhile." : !info ? `Running the emulator: ${Math.round(100 * map.progress)} %` : `${info.title}: up to ${info.max}${info.cycles ? `, ${info.cycles.toLocaleString("en")} cycles` : ""}.`);
    const away = picture && !app.mapHere();
    $("inset").hidden = !away;
    if (away && $("inset-canvas").of !== picture) {
      const inset = Object.assign($("inset-canvas"), { of: picture, width: picture.width, height: picture.height });
      inset.getContext("2d").drawImage(picture, 0, 0);
      text("inset-title", info?.title ?? "");
    }
    const legend = app.mapHere() ? { ...info, low: 0, high: info?.top } : app.legend();
    const layered = app.mapHere() || app.a.layer || app.b?.layer;
    $("legend").hidden = !legend || !layered;
    if (!legend) return;
    // Colours stand at eighths of the curve; the bar is linear in the values.
    const stops = VIRIDIS.map((colour, i) => `${colour} ${100 * (i / 8) ** (legend.curve === "root" ? 2 : 1)}%`);
    $("legend-bar").style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    text("legend-title", legend.title ?? "");
    text("legend-low", number(legend.low, 4));
    text("legend-high", number(legend.high, 4) + (legend.max > legend.high ? ` (up to ${number(legend.max, 4)})` : ""));
    text("legend-note", legend.nothing ? `Black: ${legend.nothing}` : "");
  }

  // Split line, names of both sides and the probed point, in their places on the picture.
  function updateMarks() {
    const { left, top, width, height } = app.place();
    const px = (id, values) => {
      for (const [name, value] of Object.entries(values)) $(id).style[name] = `${value}px`;
    };
    const mode = app.mapHere() ? "single" : app.mode2();
    $("line").hidden = mode !== "split";
    px("line", { left: left + app.split * width, top, height });
    $("line").setAttribute("aria-valuenow", String(Math.round(100 * app.split)));
    const named = (source) => (source?.photo ? "Photo" : source ? [app.welcome.scenes[source.scene].name, source.profile, source.layer, source.renderer === "cpu" ? null : source.renderer].filter(Boolean).join(", ") : "");
    $("side-a").hidden = mode !== "split" && !(mode === "blink" && app.side === "a");
    $("side-b").hidden = mode !== "split" && !(mode === "blink" && app.side === "b");
    text("side-a", `A: ${named(app.a)}`);
    text("side-b", `B: ${named(app.b)}`);
    const { probe, cursor, pose } = app;
    let at = cursor;
    const [w, h] = app.pictureSize();
    if (!at && probe && tab === "pixel") {
      if (JSON.stringify(probe.cam) === JSON.stringify(app.cam())) at = probe;
      else if (probe.point) {
        const [x, y, depth] = camera.project(pose, probe.point, w, h);
        if (depth > 0) at = { x: x - 0.5, y: y - 0.5 };
      }
    }
    $("marker").hidden = !at;
    if (at) px("marker", { left: left + ((at.x + 0.5) / w) * width, top: top + ((at.y + 0.5) / h) * height });
  }

  return { fill };
}
