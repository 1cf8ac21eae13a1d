// Plays the recorded episodes: both films of a pair move together, once, when they come into view.
(() => {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  for (const root of document.querySelectorAll(".film[data-film]")) {
    const data = JSON.parse(document.getElementById(root.dataset.film).textContent);
    const words = JSON.parse(root.dataset.words);
    const sheet = new Image();
    sheet.onload = () => start(root, data, words, sheet);
    sheet.src = data.sheet;
  }

  function start(root, data, words, sheet) {
    const size = data.tile;
    const stages = [...root.querySelectorAll("figure")].map((figure, i) => {
      const film = data.films[i];
      const canvas = document.createElement("canvas");
      canvas.width = film.width * size;
      canvas.height = film.height * size;
      const img = figure.querySelector("img");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", img.alt);
      img.replaceWith(canvas);
      return { film, pen: canvas.getContext("2d"), note: figure.querySelector(".moment"), boards: boards(film) };
    });
    const last = Math.max(...stages.map((s) => s.film.moments.length)) - 1;
    const controls = document.createElement("div");
    controls.className = "controls";
    const button = Object.assign(document.createElement("button"), { type: "button" });
    const slider = Object.assign(document.createElement("input"), { type: "range", min: 0, max: last, value: last });
    slider.setAttribute("aria-label", words.step);
    const count = document.createElement("output");
    controls.append(button, slider, count);
    root.append(controls);

    let at = last, timer = 0;
    const pace = Math.max(35, Math.min(160, 9000 / (last + 1)));
    const show = (to) => {
      at = to;
      slider.value = at;
      count.textContent = `${at} / ${last}`;
      for (const s of stages) draw(s, Math.min(at, s.film.moments.length - 1), at);
    };
    const stop = () => { clearInterval(timer); timer = 0; button.textContent = words.play; };
    const play = () => {
      if (at >= last) show(0);
      button.textContent = words.pause;
      timer = setInterval(() => (at >= last ? stop() : show(at + 1)), pace);
    };
    button.onclick = () => (timer ? stop() : play());
    slider.oninput = () => { stop(); show(Number(slider.value)); };
    stop();
    show(last);
    if (!calm && "IntersectionObserver" in window) {
      const seen = new IntersectionObserver((entries) => {
        if (entries.some((e) => e.isIntersecting)) { seen.disconnect(); play(); }
      }, { threshold: 0.6 });
      seen.observe(root);
    }

    function draw(s, moment, asked) {
      const [, pos, heading, hand, action, reward] = s.film.moments[moment];
      const w = s.film.width;
      const put = (tile, cell) => s.pen.drawImage(sheet, tile * size, 0, size, size, (cell % w) * size, Math.floor(cell / w) * size, size, size);
      s.boards[moment].forEach((tile, cell) => put(tile, cell));
      put(data.agent + heading, pos);
      if (hand >= 0) {
        const x = (pos % w) * size, y = Math.floor(pos / w) * size, small = size * 0.5;
        s.pen.drawImage(sheet, hand * size, 0, size, size, x + small, y, small, small);
        s.pen.strokeRect(x + small, y, small, small);
      }
      const parts = [];
      if (moment === s.film.moments.length - 1) parts.push(words[s.film.end]);
      else if (action) parts.push(words.actions[action] || action);
      if (reward) parts.push(`${words.reward} ${(reward / 1000).toLocaleString(document.documentElement.lang)}`);
      s.note.textContent = parts.join(" · ") || words.start;
      s.pen.canvas.style.opacity = asked > moment ? 0.75 : 1;
    }
  }

  function boards(film) {
    const all = [];
    let board = [];
    for (const [changes] of film.moments) {
      if (changes.length) {
        board = board.slice();
        for (let i = 0; i < changes.length; i += 2) board[changes[i]] = changes[i + 1];
      }
      all.push(board);
    }
    return all;
  }
})();
