// Frame rate, latency and time to the exact picture of a scene in a browser, also through a slow network.
//
// node measure.mjs QUADRILLE SCENE [CAMERAS] [ROUND_TRIP_MS MEGABITS_PER_S]
//
// The variable SCALE fixes the scale of the frames, for example to 1, and WINDOW the size of the window, for example 2560x1440.
import {chromium} from "playwright-core"
import {serve, slowNetwork, stop} from "./support.mjs"

const [, , quadrille, scene, cameras, roundTripMs, megabits] = process.argv
// A window whose picture has 980 x 545 pixels between the bars, without the panel.
const [width, height] = (process.env.WINDOW ?? "980x619").split("x").map(Number)
const WINDOW = {width, height}
const SECONDS = 8
const words = [scene, ...(cameras ? ["--cameras", cameras] : []), "--port", "0"]
const {child, url, port} = await serve(quadrille, words)
const network = roundTripMs ? await slowNetwork(port, roundTripMs, megabits) : null
const address = network ? url.replace(`:${port}`, `:${network.address().port}`) : url
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu"]
})
const page = await browser.newPage({viewport: WINDOW})
// Times are taken in the page, where input comes in and pictures are drawn.
await page.addInitScript(() => {
	const log = (window.measured = {frames: [], sent: new Map(), stills: []})
	const send = WebSocket.prototype.send
	WebSocket.prototype.send = function (text) {
		const message = JSON.parse(text)
		if (message.t === "frame" || message.t === "still") log.sent.set(message.seq, performance.now())
		if (message.t === "shown") log.frames.push([performance.now(), performance.now() - log.sent.get(message.seq)])
		if (message.t === "still") log.stills.push(performance.now())
		send.call(this, text)
	}
})
page.on("console", message => message.type() === "error" && console.log(message.text()))
await page.goto(address)
await page.waitForFunction(() => document.documentElement.dataset.state === "EXACT", null, {timeout: 60000})
// Every frame in the window's size, where the scale is otherwise as the machine allows.
if (process.env.SCALE) await page.selectOption("#pace-scale", process.env.SCALE)
await page.getByRole("button", {name: "Panel"}).click()
await page.waitForTimeout(1500)
await page.evaluate(() => (window.measured.frames.length = 0))
// Held keys move the camera with every frame of the browser; a test program's mouse moves far less often.
const start = performance.now()
for (let n = 0; performance.now() - start < SECONDS * 1000; n += 1) {
	const key = n % 2 === 0 ? "KeyA" : "KeyD"
	await page.keyboard.down(key)
	await page.waitForTimeout(500)
	await page.keyboard.up(key)
}
const seconds = (performance.now() - start) / 1000
const [frames, last] = await page.evaluate(() => [window.measured.frames, performance.now()])
const exactMs = await page.evaluate(async since => {
	while (document.documentElement.dataset.state !== "EXACT") await new Promise(resolve => setTimeout(resolve, 2))
	return performance.now() - since
}, last)
const ages = frames.map(frame => frame[1]).sort((a, b) => a - b)
const at = share => ages[Math.min(ages.length - 1, Math.floor(share * ages.length))].toFixed(0)
console.log(
	`${(frames.length / seconds).toFixed(1)} frames/s; input to drawn: median ${at(0.5)}, 95 % ${at(0.95)}, ` +
		`longest ${at(1)} ms; exact ${exactMs.toFixed(0)} ms after the last input (${(await page.locator("footer").innerText()).replaceAll("\n", ", ")})`
)
await browser.close()
network?.close()
await stop(child)
process.exit(0)
