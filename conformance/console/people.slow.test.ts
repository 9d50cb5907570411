import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { accept } from '../people.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot, clientsOf } from '../service.ts'
import { logOf } from '../turns.ts'
import { until } from '../until.ts'
import type { TestBrowser, Visit } from './browser.ts'
import { assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { makeAgent, makeEnvironment, makeSession, say } from './workspace.ts'

/** A card takes no answer in its first moments, so that nobody answers what appears under a finger. */
const settleMs = 500
/** The least height of what a thumb has to find. */
const thumb = 44

/** Runs in the page, from its beginning: keeps everything that a screen reader would say on its own. */
const listen = `window.heard = []
const regions = 'output, [role=status], [role=alert], [aria-live=polite], [aria-live=assertive]'
const hear = () => {
  for (const region of document.querySelectorAll(regions)) {
    const text = region.textContent.trim()
    if (text !== '' && region.heard !== text) window.heard.push(text)
    region.heard = text
  }
}
new MutationObserver(hear).observe(document, { subtree: true, childList: true, characterData: true })`

void describe('people at the console', () => {
  let service: TestService
  let browser: TestBrowser
  let environment: string
  let careful: string

  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
    environment = await makeEnvironment(service)
    careful = await makeAgent(service, 'careful', 'always_ask')
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `${service.base}/console/${path}`
  const approval = (page: Page) => page.getByRole('group', { name: 'bash asks for your approval' })

  /** A session whose agent asks before it runs a command. */
  async function askingSession(title: string): Promise<string> {
    const message = `run: echo ${title.replaceAll(' ', '-')}`
    const session = await makeSession(service, { agent: careful, environment, title, message })
    await until(async () => (await logOf(service, session)).at(-1)?.type === 'session.status_idle')
    return session
  }
  const decisionsIn = async (session: string) =>
    (await logOf(service, session)).filter(({ type }) => type === 'user.tool_confirmation')
  const ranIn = async (session: string) =>
    (await logOf(service, session)).filter(({ type }) => type === 'agent.tool_result')

  void it('hear when an agent begins, asks, fails and is done, and never what it writes', async () => {
    const session = await makeSession(service, { agent: careful, environment, title: 'heard' })
    const visit = await browser.visit(service.base, { key: adminKey })
    await visit.context.addInitScript({ content: listen })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    await page.getByLabel('Write to the agent').waitFor(patience)
    const heard = () => page.evaluate<string[]>('window.heard')
    await say(service, session, 'wait: 500\nsay: supercalifragilistic words of an answer')
    await page.getByText('supercalifragilistic').last().waitFor(patience)
    await until(async () => (await heard()).at(-1) === 'idle', heard)
    await say(service, session, 'fail: request')
    await until(async () => (await heard()).at(-1) === 'turn failed', heard)
    await say(service, session, 'run: echo one')
    await approval(page).waitFor(patience)
    await until(async () => (await heard()).includes('asks you'), heard)
    const all = await heard()
    assert.ok(all.indexOf('running') >= 0, all.join(' | '))
    assert.ok(all.indexOf('running') < all.lastIndexOf('idle'), all.join(' | '))
    assert.ok(all.lastIndexOf('idle') < all.indexOf('asks you'), all.join(' | '))
    assert.deepEqual(
      all.filter((text) => /supercali|words of|echo/.test(text)),
      [],
    )
    assert.equal(await page.getByRole('log').getAttribute('aria-live'), 'off')
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('come from home to an approved call by keys alone', async () => {
    const session = await askingSession('by keys')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(''))
    await page.getByRole('link', { name: 'by keys' }).waitFor(patience)
    const focused = (what: string) =>
      page.evaluate<boolean>(`Boolean(document.activeElement?.${what})`)
    const tabUntil = async (what: string) => {
      for (let n = 0; n < 60 && !(await focused(what)); n++) await page.keyboard.press('Tab')
      assert.ok(await focused(what), `no key leads to ${what}`)
    }
    await tabUntil(`matches('main a[href$="${session}"]')`)
    await page.keyboard.press('Enter')
    await approval(page).waitFor(patience)
    await tabUntil(`matches('[role=group][aria-label="bash asks for your approval"]')`)
    await page.waitForTimeout(settleMs)
    await page.keyboard.press('y')
    await approval(page).waitFor({ state: 'detached', ...patience })
    await until(async () => (await ranIn(session)).length === 1)
    assert.deepEqual(
      (await decisionsIn(session)).map(({ result }) => result),
      ['allow'],
    )
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('answer with one thumb: the decision is in view, and large enough', async () => {
    const session = await askingSession('by thumb')
    const viewport = { width: 360, height: 740 }
    const touch = { viewport, hasTouch: true, isMobile: true }
    const visit = await browser.visit(service.base, { key: adminKey, ...touch })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    await approval(page).waitFor(patience)
    await page.waitForTimeout(settleMs)
    for (const name of ['Approve', 'Deny', 'Allow in this session']) {
      const box = await approval(page).getByRole('button', { name }).boundingBox()
      assert.ok(box, name)
      assert.ok(box.height >= thumb && box.width >= thumb, `${name}: ${JSON.stringify(box)}`)
      assert.ok(box.x >= 0 && box.x + box.width <= viewport.width, name)
      assert.ok(box.y >= 0 && box.y + box.height <= viewport.height, `${name} is out of view`)
    }
    await approval(page).getByRole('button', { name: 'Approve' }).tap()
    await until(async () => (await ranIn(session)).length === 1)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('see nothing of another workspace, by its address neither', async () => {
    const session = await askingSession('a secret of the first workspace')
    const other = await service.otherWorkspace('another')
    const agent = await makeAgent(clientsOf(service.base, other.key), 'their agent')
    assert.match(agent, /^agent_/)
    const visit = await browser.visit(service.base, { key: other.key })
    const { page } = visit
    const answers: string[] = []
    page.on('response', (response) => {
      if (!response.url().includes('/v1/')) return
      void response.text().then(
        (text) => answers.push(text),
        () => answers.push(''),
      )
    })
    const shown: string[] = []
    for (const path of ['', 'sessions', `sessions/${session}`, `sessions/${session}?view=events`]) {
      await page.goto(at(path))
      await page.getByRole('heading').first().waitFor(patience)
      await page.locator('.shell, #page > [aria-busy]').first().waitFor({ state: 'detached' })
      await page.waitForTimeout(300)
      shown.push((await page.textContent('body')) ?? '')
    }
    await page.getByText('There is no such session.').waitFor(patience)
    await makeSession(service, { agent: careful, environment, title: 'another secret' })
    await page.goto(at('sessions'))
    await page.getByRole('heading', { name: 'Sessions' }).waitFor(patience)
    shown.push((await page.textContent('body')) ?? '')
    assert.ok(answers.length > 0)
    for (const text of [...shown, ...answers]) assert.doesNotMatch(text, /secret|careful|echo a-/)
    assert.deepEqual([visit.faults.violations, visit.faults.foreign], [[], []])
    await visit.context.close()
  })

  /** Somebody of the first workspace, at a session. */
  async function reviewer(name: string, session: string): Promise<Visit> {
    const { body } = await service.ask<{ active_workspace_id: string }>('GET', '/v1/ext/me')
    const token = await service.invite(body.active_workspace_id, 'member')
    const email = `${name.toLowerCase()}@example.com`
    const { cookie } = await accept(service, token, { email, name })
    const visit = await browser.visit(service.base)
    const [cookieName = '', value = ''] = cookie.split(/=(.*)/s)
    await visit.context.addCookies([{ name: cookieName, value, url: service.base }])
    await visit.page.goto(at(`sessions/${session}`))
    await approval(visit.page).waitFor(patience)
    await visit.page.waitForTimeout(settleMs)
    return visit
  }

  void it('decide once: the second reviewer sees the decision of the first', async () => {
    const session = await askingSession('two reviewers')
    const [ada, ben] = [await reviewer('Ada', session), await reviewer('Ben', session)]
    await approval(ada.page).getByRole('button', { name: 'Deny' }).click()
    for (const { page } of [ada, ben]) {
      await approval(page).waitFor({ state: 'detached', ...patience })
      await page.getByText('denied').first().waitFor(patience)
    }
    assert.equal((await decisionsIn(session)).length, 1)
    assertNoFaults(ben)

    await say(service, session, 'run: echo again')
    for (const { page } of [ada, ben]) await approval(page).waitFor(patience)
    await ada.page.waitForTimeout(settleMs)
    // Ben is the first to press, and his answer the second to come.
    const sent = Promise.withResolvers<void>()
    const decided = Promise.withResolvers<void>()
    await ben.page.route('**/events', async (route) => {
      sent.resolve()
      await decided.promise
      await route.continue()
    })
    await approval(ben.page).getByRole('button', { name: 'Deny' }).click()
    await sent.promise
    await approval(ada.page).getByRole('button', { name: 'Approve' }).click()
    for (const { page } of [ada, ben])
      await page.getByRole('button', { name: /again.*allowed/ }).waitFor(patience)
    const answered = ben.page.waitForResponse('**/events')
    decided.resolve()
    await answered
    await ben.page.getByText('allowed: somebody else has decided before you').waitFor(patience)
    assert.equal(await ada.page.getByText('somebody else').count(), 0)
    await until(async () => (await ranIn(session)).length === 2)
    assert.deepEqual(
      (await decisionsIn(session)).map(({ result }) => result),
      ['deny', 'allow'],
    )
    for (const { context } of [ada, ben]) await context.close()
  })

  void it('read the output of a hostile agent as text, and go on working with the page', async () => {
    const asksUser = { type: 'custom', name: 'ask_user', description: 'Asks.' }
    const input_schema = { type: 'object', properties: {} }
    const { body } = await service.ask('POST', '/v1/agents', {
      ...{ name: 'hostile', model: 'offline', tools: [{ ...asksUser, input_schema }] },
    })
    const markup = [
      '<script>document.title="owned"</script>',
      '<img src="https://evil.example/x.png" onerror="document.title=1">',
      '<svg onload="document.title=2"><a href="javascript:document.title=3">x</a></svg>',
      '<iframe src="https://evil.example"></iframe><style>*{display:none}</style>',
      '[click](javascript:document.title=4) [data](data:text/html,<script>1</script>)',
      '![pixel](https://evil.example/pixel.png)',
      '\u001b[31mred\u001b[0m \u202eesrever\u202c zero\u200bwidth',
    ].join('\n\n')
    const title = `${'<b onclick=alert(1)>'.repeat(20)}\u202e`
    const session = await makeSession(service, {
      ...{ agent: body.id, environment, title, message: `say: <<END\n${markup}\nEND` },
    })
    const results = [
      'x'.repeat(4_000_000),
      Array.from({ length: 50_000 }, (_, line) => `line ${line} \u001b[31mred\u001b[0m`).join('\n'),
      markup,
    ]
    for (const text of results) {
      await say(service, session, `call ask_user {"${'n'.repeat(8_000)}":"<img src=x>\u202e"}`)
      let call: string | undefined
      await until(async () => {
        const last = (await logOf(service, session)).findLast(
          ({ type }) => type === 'agent.custom_tool_use' || type === 'user.custom_tool_result',
        )
        call = last?.type === 'agent.custom_tool_use' ? last.id : undefined
        return call !== undefined
      })
      const content = [{ type: 'text', text }]
      const answer = { type: 'user.custom_tool_result', custom_tool_use_id: call, content }
      const { status } = await service.ask('POST', `/v1/sessions/${session}/events`, {
        events: [answer],
      })
      assert.ok(status < 300, `${status}`)
      await until(async () => {
        const log = await logOf(service, session)
        return (
          log.at(-1)?.type === 'session.status_idle' && log.at(-2)?.type !== 'agent.custom_tool_use'
        )
      })
    }
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    await page.getByText('document.title="owned"').first().waitFor(patience)
    for (const call of await page.getByRole('button', { name: /^ask_user/ }).all())
      await call.click()
    await page.getByText('line 0 ').first().waitFor(patience)
    await page.getByText('U+202E').first().waitFor(patience)
    assert.doesNotMatch(await page.title(), /^(?:owned|\d)/)
    const alive = 'main img, main svg[onload], main script, main iframe, main style, main [onclick]'
    assert.equal(await page.locator(alive).count(), 0)
    const links = await page
      .locator('main a')
      .evaluateAll((all) => all.map((each) => String(each.getAttribute('href'))))
    assert.deepEqual(
      links.filter((href) => /^(?:javascript|data):/i.test(href)),
      [],
    )
    const began = performance.now()
    await page.getByLabel('Write to the agent').fill('say: still here')
    await page.keyboard.press('Control+Enter')
    await page.getByText('still here', { exact: true }).first().waitFor(patience)
    await page.getByRole('tab', { name: /Events/ }).click()
    await page
      .getByRole('button', { name: /user\.custom_tool_result/ })
      .first()
      .click()
    await page.getByRole('complementary', { name: 'Details' }).waitFor(patience)
    assert.ok(performance.now() - began < patience.timeout)
    assertNoFaults(visit)
    await visit.context.close()
  })
})
