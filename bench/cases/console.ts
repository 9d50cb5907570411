/** The console as somebody sees it: Chromium over a real server. */
import type { Page } from 'playwright-core'
import type { TestBrowser } from '../../conformance/console/browser.ts'
import { buildConsole, openBrowser } from '../../conformance/console/browser.ts'
import { watch } from '../client.ts'
import {
  clickUntil,
  firstPaint,
  memoryOf,
  paintedWhen,
  scriptBytes,
  scrollEvents,
  watchFrames,
} from '../console-page.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import { key, startServer } from '../processes.ts'
import type { BenchSetup } from './setup.ts'
import { message, newSession } from './setup.ts'

const rounds = 7

const sessionLink = `document.querySelector('main a[href*="sessions/sesn_"]')`
/** The newest answer of the long session. */
const lastWords = `[...document.querySelectorAll('[data-event]')].some((each) => each.textContent.includes('ok'))`

/** Posts events, and waits for the end of the turn that they begin or continue. */
async function turn({ base, call }: BenchSetup, session: string, body: object): Promise<void> {
  const stream = await watch(base, session)
  const rests = stream.until('session.status_idle')
  await call.post(`/v1/sessions/${session}/events`, body)
  await rests
  await stream.close()
}

/** A turn that reads so many messages, and in which a tool of the client answers 20,000 characters. */
async function toolTurn(setup: BenchSetup, session: string, messages: number): Promise<void> {
  const said = Array.from(
    { length: messages },
    (_, at) => message(`part ${at} of the list`).events[0],
  )
  const stream = await watch(setup.base, session)
  const asked = stream.until('agent.custom_tool_use')
  const waits = stream.until('session.status_idle')
  const path = `/v1/sessions/${session}/events`
  await setup.call.post(path, { events: [...said, ...message().events] })
  const { data } = await asked
  await waits
  const rests = stream.until('session.status_idle')
  const content = [{ type: 'text', text: 'a line of a log\n'.repeat(1_250) }]
  const type = 'user.custom_tool_result'
  await setup.call.post(path, {
    events: [{ type, custom_tool_use_id: String(data['id']), content }],
  })
  await rests
  await stream.close()
}

const longLog = 10_000

/** Makes a session of 10,000 events through the interface: turns that read many messages, between turns that read one. */
async function makeLongSession(setup: BenchSetup): Promise<string> {
  const session = await newSession(setup, 'custom')
  for (let n = 0; n < 12; n++) {
    await toolTurn(setup, session, 775)
    for (let each = 0; each < 6; each++) await toolTurn(setup, session, 0)
  }
  const { data } = (await setup.call.get(`/v1/sessions/${session}/events?order=desc&limit=1`)) as {
    data: { seq: number }[]
  }
  const [last] = data
  if (!last || last.seq < longLog) throw new Error(`the log has ${last?.seq} events`)
  return session
}

type Stand = { setup: BenchSetup; browser: TestBrowser; at: (path: string) => string }

async function coldPage<Value>(
  { browser, setup }: Stand,
  use: (page: Page) => Promise<Value>,
): Promise<Value> {
  const { page, context } = await browser.visit(setup.base, { key })
  try {
    return await use(page)
  } finally {
    await context.close()
  }
}

async function* firstVisits(stand: Stand): AsyncGenerator<Figure> {
  const [shells, useful, bytes]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++)
    await coldPage(stand, async (page) => {
      await page.goto(stand.at('sessions'), { waitUntil: 'commit' })
      useful.push(await paintedWhen(page, sessionLink))
      shells.push(await firstPaint(page))
      bytes.push(await scriptBytes(page))
    })
  yield { what: 'console: shell painted', value: median(shells), unit: 'ms', goal: 150 }
  yield { what: 'console: first row painted, cold', value: median(useful), unit: 'ms', goal: 500 }
  yield { what: 'console: script until then', value: median(bytes) / 1024, unit: 'KB', goal: 160 }
}

const heading = (title: string) => `document.querySelector('h1')?.textContent === '${title}'`
/** Two pages, by the end of their address, with what shows that they are there. */
const pages = [
  ['', `${heading('Home')} && document.querySelector('main section, main [role=list], main h2')`],
  ['sessions', `${heading('Sessions')} && ${sessionLink}`],
] as const
const pathLink = (path: string) => `nav a[href$="/console/${path}"]`

async function* routeChanges(stand: Stand): AsyncGenerator<Figure> {
  const times = await coldPage(stand, async (page) => {
    await page.goto(stand.at('sessions'))
    await paintedWhen(page, sessionLink)
    const found: number[] = []
    for (let n = 0; n < 12; n++)
      for (const [path, isThere] of pages)
        found.push(await clickUntil(page, pathLink(path), isThere))
    return found.slice(4)
  })
  yield { what: 'console: route change, warm', value: median(times), unit: 'ms', goal: 50 }
}

async function* longSessions(stand: Stand): AsyncGenerator<Figure> {
  const session = await makeLongSession(stand.setup)
  const opened: number[] = []
  for (let round = 0; round < rounds; round++)
    await coldPage(stand, async (page) => {
      await page.goto(stand.at(`sessions/${session}`), { waitUntil: 'commit' })
      opened.push(await paintedWhen(page, lastWords))
    })
  const what = 'console: 10,000 events'
  yield { what: `${what}, opened cold`, value: median(opened) / 1000, unit: 's', goal: 1 }
  const { scrolled, frames } = await coldPage(stand, async (page) => {
    await page.goto(stand.at(`sessions/${session}?view=events`))
    await page.locator(eventRow).first().waitFor()
    const earlier = page.getByRole('button', { name: 'Earlier' })
    for (let n = 0; n < 10 && (await earlier.isVisible()); n++) {
      const loaded = page.waitForResponse((response) => response.url().includes('/events?'))
      await earlier.click()
      await loaded
    }
    await page.locator(eventRow).first().waitFor()
    const ends = await watchFrames(page)
    const seen = await scrollEvents(page, 400)
    return { scrolled: seen, frames: await ends() }
  })
  if (scrolled.frames < 50) throw new Error(`only ${scrolled.frames} frames were scrolled`)
  yield {
    what: `${what}, frames with a gap while scrolled`,
    value: scrolled.gaps,
    unit: 'frames',
    goal: 0,
  }
  yield {
    what: `${what}, longest frame while scrolled`,
    value: frames.longest,
    unit: 'ms',
    goal: 50,
  }
}

const eventRow = 'button[data-event]'

const answerTokens = 2_000

async function* streamed(stand: Stand): AsyncGenerator<Figure> {
  const { setup } = stand
  const longest: number[] = []
  const late: number[] = []
  for (let round = 0; round < 3; round++)
    await coldPage(stand, async (page) => {
      const session = await newSession(setup, 'stream')
      await page.goto(stand.at(`sessions/${session}`))
      // The parts that show an answer are loaded with the first one.
      await turn(setup, session, message('stream 20 200'))
      await page.getByText('word19').waitFor()
      const ends = await watchFrames(page)
      await turn(setup, session, message(`stream ${answerTokens} 200`))
      const frames = await ends()
      longest.push(frames.longest)
      late.push(frames.late)
      await page.getByText(`word${answerTokens - 1}.`).waitFor()
    })
  const what = 'console: 200 tokens a second'
  yield { what: `${what}, longest frame`, value: median(longest), unit: 'ms', goal: 50 }
  yield {
    what: `${what}, frames beyond 50 ms in 10 s`,
    value: median(late),
    unit: 'frames',
    goal: 0,
  }
}

/** 12 turns of 5,000 tokens are five minutes at 200 tokens a second, and few enough for one page of the log. */
const memoryTurns = { count: 12, tokens: 5_000, rate: 2_000 }

/**
 * Five minutes of streaming at ten times the speed. What the page then holds is compared with a page that has just been
 * opened on the same session and shows all of each answer: whatever streaming left behind is the difference.
 */
async function* streamedMemory(stand: Stand): AsyncGenerator<Figure> {
  const { setup } = stand
  const session = await newSession(setup, 'stream')
  const streamed = await coldPage(stand, async (page) => {
    await page.goto(stand.at(`sessions/${session}`))
    await page.getByLabel('Write to the agent').waitFor()
    for (let n = 0; n < memoryTurns.count; n++) {
      await turn(setup, session, message(`stream ${memoryTurns.tokens} ${memoryTurns.rate}`))
      await page.locator(answersEnd).nth(n).waitFor()
    }
    return memoryOf(page)
  })
  const opened = await coldPage(stand, async (page) => {
    await page.goto(stand.at(`sessions/${session}`))
    for (let n = 0; n < memoryTurns.count; n++) {
      await page
        .getByRole('button', { name: /^Show all of it/ })
        .first()
        .click()
      await page.locator(answersEnd).nth(n).waitFor()
    }
    return memoryOf(page)
  })
  const what = 'console: 5 minutes of streaming'
  const heap = streamed.heap / opened.heap
  yield { what: `${what}, heap against a fresh page`, value: heap, unit: '×', goal: 1.1 }
  const nodes = streamed.nodes / opened.nodes
  yield { what: `${what}, nodes against a fresh page`, value: nodes, unit: '×', goal: 1.1 }
  yield { what: `${what}, heap`, value: streamed.heap / 1e6, unit: 'MB' }
}

const answersEnd = `article:has-text("word${memoryTurns.tokens - 1}.")`

export async function* consolePages(
  folder: string,
  env: Record<string, string>,
  setUp: (base: string) => Promise<BenchSetup>,
): AsyncGenerator<Figure> {
  await buildConsole()
  const server = await startServer(folder, env)
  const setup = await setUp(server.base)
  const browser = await openBrowser()
  try {
    const stand = { setup, browser, at: (path: string) => `${server.base}/console/${path}` }
    for (let n = 0; n < 60; n++) await turn(setup, await newSession(setup, 'one'), message())
    for (const part of [firstVisits, routeChanges, longSessions, streamed, streamedMemory])
      yield* part(stand)
  } finally {
    await browser.close()
    await setup.call.close()
    await server.stop()
  }
}
