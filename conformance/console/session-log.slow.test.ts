import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { until } from '../until.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoBarriers, assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { makeAgent, makeEnvironment, makeSession, say } from './workspace.ts'

const longLog = 10_000
/** As many messages as one request takes. */
const perTurn = 780

void describe('the log of a session in the console', () => {
  let service: TestService
  let browser: TestBrowser
  let environment: string
  let agent: string
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
    environment = await makeEnvironment(service)
    agent = await makeAgent(service, 'reader')
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `${service.base}/console/${path}`
  const read = async (path: string) => (await service.ask('GET', path)).body
  const rested = (session: string) =>
    until(async () => (await read(`/v1/sessions/${session}`)).status === 'idle')
  const make = async (message: string, title = 'look into it') => {
    const session = await makeSession(service, { agent, environment, title, message })
    await rested(session)
    return session
  }
  const post = (session: string, events: readonly object[]) =>
    service.ask('POST', `/v1/sessions/${session}/events`, { events })
  const messageOf = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] })
  const eventsOf = async (session: string, query: string) =>
    (await read(`/v1/sessions/${session}/events?${query}`)).data
  /** The one message that has this text. */
  const eventSaying = async (session: string, text: string): Promise<string> => {
    const { data } = await read(`/v1/ext/sessions/${session}/find?q=${encodeURIComponent(text)}`)
    return String(data[0]?.id)
  }
  /** Where the middle of a piece stands in the talk: 0 at its top, 1 at its bottom. */
  const placeOf = (page: Page, event: string) =>
    page.evaluate<number>(`(() => {
      const talk = document.querySelector('[role=log]').getBoundingClientRect()
      const piece = document.querySelector('[data-event="${event}"]').getBoundingClientRect()
      return (piece.top + piece.height / 2 - talk.top) / talk.height
    })()`)

  void it('opens a session of 10,000 events at the event that its address names, and goes on from there', async () => {
    const session = await make('say: hello.')
    for (let n = 0; n * perTurn < longLog; n++) {
      const numbers = Array.from({ length: perTurn }, (_, each) => n * perTurn + each)
      await post(
        session,
        numbers.map((number) => messageOf(`part ${number} of the list.`)),
      )
      await rested(session)
    }
    const [last] = await eventsOf(session, 'order=desc&limit=1&include=chunks')
    assert.ok(Number(last?.['seq']) > longLog, `the log has ${String(last?.['seq'])} events`)
    const event = await eventSaying(session, 'part 2500 of the list.')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    const pages: string[] = []
    page.on('request', (request) => {
      if (/\/events\?/.test(request.url())) pages.push(request.url())
    })
    await page.goto(at(`sessions/${session}?event=${event}`))
    const talk = page.getByRole('log')
    await talk.getByText('part 2500 of the list.').waitFor(patience)
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByText('user.message').first().waitFor(patience)
    // Texts above it may grow until all of the page is there. It stands in the middle then.
    await until(async () => Math.abs((await placeOf(page, event)) - 0.5) < 0.02)
    assert.equal(pages.length, 2, 'the newest events and those around it')

    // What comes at the end moves nothing here, and is counted on the button that leads there.
    await say(service, session, 'say: news from the end.')
    const toEnd = page.getByRole('button', { name: /new ↓$/ })
    await toEnd.waitFor(patience)
    const stays = await placeOf(page, event)
    assert.ok(Math.abs(stays - 0.5) < 0.02, `it stands at ${stays} of the talk`)
    assert.equal(await talk.getByText('news from the end.').count(), 0)

    // Reading on in both directions keeps what is read where it is.
    await page.evaluate(`document.querySelector('[role=log]').scrollTop = 0`)
    await page.getByRole('button', { name: 'Show earlier events' }).click()
    await talk.getByText('part 2300 of the list.').waitFor(patience)
    await toEnd.click()
    await talk.getByText('news from the end.').first().waitFor(patience)
    assert.equal(await talk.getByText('part 2500 of the list.').count(), 0)

    // Find leads to a place that the page does not have.
    await page.getByRole('heading', { name: 'look into it' }).focus()
    await page.keyboard.press('/')
    await page.getByRole('searchbox').fill('part 700 of')
    await page.getByRole('button', { name: /part 700 of/ }).click()
    await page.getByRole('tab', { name: 'Conversation' }).click()
    await talk.getByText('part 700 of the list.').waitFor(patience)
    const found = await placeOf(page, await eventSaying(session, 'part 700 of the list.'))
    assert.ok(found > 0 && found < 1, `it stands at ${found} of the talk`)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('is one selection: what is chosen in one part is shown in the others', async () => {
    const session = await make('run: echo one\nsay: first.')
    await say(service, session, `run: seq 1 300\nsay: ${'a line. '.repeat(800)}`)
    await rested(session)
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    const timeline = page.getByRole('navigation', { name: 'Timeline' })
    const talk = page.getByRole('log')
    const details = page.getByRole('complementary', { name: 'Details' })
    const [call] = await eventsOf(session, 'types[]=agent.tool_use')
    await timeline.locator(`[data-step="${String(call?.id)}"]`).click()
    await details.getByText('agent.tool_use').first().waitFor(patience)
    const place = await placeOf(page, String(call?.id))
    assert.ok(place > 0 && place < 1, `the call stands at ${place} of the talk`)
    // An arrow goes on to the next step, and takes the others along.
    await page.keyboard.press('ArrowDown')
    await details.getByText('span.model_request_start').first().waitFor(patience)
    assert.match(page.url(), /event=sevt_/)
    // The details go to the next event, and the timeline follows.
    await details.getByRole('button', { name: 'Next event' }).click()
    await details.getByText('agent.message').first().waitFor(patience)
    assert.equal(await timeline.locator('[aria-pressed=true]').count(), 1)
    // `k` goes back through the pieces of the talk.
    await page.getByRole('heading', { name: 'look into it' }).focus()
    await page.keyboard.press('k')
    await details.getByText('agent.tool_use').first().waitFor(patience)
    await details.getByRole('button', { name: 'Close the details' }).click()
    await details.waitFor({ state: 'detached' })
    assert.ok((await talk.locator('[data-event]').count()) > 0)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('shows a span of a turn alone, by a drag and by keys, and the whole turn again', async () => {
    const session = await make('run: sleep 0.3\nrun: sleep 0.2; exit 3\nsay: done.')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    const timeline = page.getByRole('navigation', { name: 'Timeline' })
    const steps = timeline.locator('[data-step]')
    await steps.first().waitFor(patience)
    const all = await steps.count()
    await timeline.getByText(/^work/).waitFor(patience)
    const bars = await steps.first().locator('[data-bars]').boundingBox()
    assert.ok(bars)
    const y = bars.y + bars.height / 2
    await page.mouse.move(bars.x + bars.width * 0.02, y)
    await page.mouse.down()
    await page.mouse.move(bars.x + bars.width * 0.2, y, { steps: 4 })
    await page.mouse.up()
    await timeline.getByText(/ of /).waitFor(patience)
    assert.ok((await steps.count()) < all, 'steps outside of the span are not shown')
    await timeline.getByRole('button', { name: 'Whole turn' }).click()
    assert.equal(await steps.count(), all)
    // The same by keys: z on a step, esc for the whole turn. The page's own esc is not meant.
    await steps.nth(1).focus()
    await page.keyboard.press('z')
    await timeline.getByText(/ of /).waitFor(patience)
    await page.keyboard.press('Escape')
    await timeline.getByText(/^work/).waitFor(patience)
    assert.equal(await steps.count(), all)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('makes its panes wider by mouse and by keys, and remembers that', async () => {
    const session = await make('say: hello.')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}?pane=usage`))
    const width = async (name: string) =>
      Number(await page.getByRole('separator', { name }).getAttribute('aria-valuenow'))
    const becomes = (name: string, px: number) => until(async () => (await width(name)) === px)
    const timeline = page.getByRole('separator', { name: 'Width of the timeline' })
    await timeline.waitFor(patience)
    const usual = await width('Width of the timeline')
    await timeline.focus()
    await page.keyboard.press('ArrowRight')
    await becomes('Width of the timeline', usual + 16)
    const edge = await page.getByRole('separator', { name: 'Width of the details' }).boundingBox()
    assert.ok(edge)
    await page.mouse.move(edge.x + 2, 400)
    await page.mouse.down()
    await page.mouse.move(edge.x - 78, 400, { steps: 4 })
    await page.mouse.up()
    await becomes('Width of the details', 520)
    await page.reload()
    await timeline.waitFor(patience)
    await becomes('Width of the timeline', usual + 16)
    await becomes('Width of the details', 520)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('has the card that asks in reach of a thumb on a phone, and letters that Safari does not zoom into', async () => {
    const asking = await makeAgent(service, 'coder', 'always_ask')
    const message = 'run: git push origin main'
    const title = 'push it'
    const session = await makeSession(service, { agent: asking, environment, title, message })
    await rested(session)
    const visit = await browser.visit(service.base, {
      key: adminKey,
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    })
    const { page } = visit
    await page.clock.install()
    await page.goto(at(`sessions/${session}`))
    const card = page.getByRole('group', { name: 'bash asks for your approval' })
    await card.waitFor(patience)
    assert.equal(await card.count(), 1)
    const approve = await card.getByRole('button', { name: /Approve/ }).boundingBox()
    assert.ok(approve && approve.y > 844 / 2, 'it stands in the lower half')
    const sizes = await page.evaluate<string[]>(
      `[...document.querySelectorAll('input:not([type=file]), textarea')].map((each) => getComputedStyle(each).fontSize)`,
    )
    assert.deepEqual([...new Set(sizes)], ['16px'])
    await page.getByRole('tab', { name: 'Timeline' }).tap()
    await page.getByText('asks you').last().waitFor(patience)
    // A card that has just come decides nothing.
    await page.clock.fastForward(1_000)
    await card.getByRole('button', { name: /Approve/ }).tap()
    await card.waitFor({ state: 'detached', ...patience })
    const [decided] = await eventsOf(session, 'types[]=user.tool_confirmation')
    assert.partialDeepStrictEqual(decided, { result: 'allow' })
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('says that an interrupt came before anybody decided', async () => {
    const asking = await makeAgent(service, 'coder', 'always_ask')
    const session = await makeSession(service, {
      ...{ agent: asking, environment, title: 'stopped', message: 'run: git push' },
    })
    await rested(session)
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    await page.getByRole('group', { name: 'bash asks for your approval' }).waitFor(patience)
    await post(session, [{ type: 'user.interrupt' }])
    await page.getByText('an interrupt came before anybody decided').waitFor(patience)
    await page.getByText('Interrupted by a person').waitFor(patience)
    assert.equal(await page.getByRole('group', { name: /asks for your approval/ }).count(), 0)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('says what a compaction has replaced and kept, with the summary folded, and what has failed', async () => {
    const { body: compacting } = await service.ask('POST', '/v1/agents', {
      name: 'teller',
      model: 'offline',
      harness: 'native',
      metadata: { compaction_trigger_fraction: 0.01 },
    })
    const session = await makeSession(service, {
      ...{ agent: compacting.id, environment, title: 'a long story' },
      message: `say: ${'and so on '.repeat(2_000)}`,
    })
    await rested(session)
    await say(service, session, 'say: the end.')
    await rested(session)
    await say(service, session, 'fail: authentication')
    await rested(session)
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    const row = page.getByText(/^History compacted · .*kept · .* → .* tokens/)
    await row.waitFor(patience)
    const [boundary] = await eventsOf(session, 'types[]=agent.thread_context_compacted')
    const summary = String(boundary?.['summary']).slice(0, 20)
    assert.equal(await page.getByText(summary).first().isVisible(), false)
    await row.click()
    await page.getByText(summary).first().waitFor(patience)
    await page.getByText('The turn failed', { exact: true }).waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
    await assertNoBarriers(browser, service, [`sessions/${session}`])
  })
})
