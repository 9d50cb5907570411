import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { until } from '../until.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { makeAgent, makeEnvironment, makeSession } from './workspace.ts'

void describe('a session in the console', () => {
  let service: TestService
  let browser: TestBrowser
  let environment: string
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
    environment = await makeEnvironment(service)
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `${service.base}/console/${path}`
  const read = async (path: string) => (await service.ask('GET', path)).body
  const rested = (session: string) =>
    until(async () => (await read(`/v1/sessions/${session}`)).status === 'idle')
  const make = async (policy: string, message: string, title = 'look into it') => {
    const agent = await makeAgent(service, 'coder', policy)
    const session = await makeSession(service, { agent, environment, title, message })
    await rested(session)
    return session
  }

  void it('shows long texts cut, and whole when somebody opens them', async () => {
    const session = await make('always_allow', 'run: seq 1 6000; echo the end\nsay: done.')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    const whole: string[] = []
    page.on('request', (request) => {
      const [, id] = /\/events\/(sevt_\w+)$/.exec(request.url()) ?? []
      if (id !== undefined) whole.push(id)
    })
    await page.goto(at(`sessions/${session}`))
    const card = page.getByRole('button', { name: /^bash seq 1 6000/ })
    await card.waitFor(patience)
    assert.equal(whole.length, 0, 'nothing is fetched whole before it is opened')
    await card.click()
    await page
      .getByText(/5,9\d\d lines between/)
      .first()
      .waitFor(patience)
    await page.getByText('the end').first().waitFor(patience)
    const events = (await read(`/v1/sessions/${session}/events?types[]=agent.tool_result`)).data
    assert.ok(whole.includes(events[0]?.id ?? ''))
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('is decided only when all of a long input was seen, alone or with others of its kind', async () => {
    const long = `echo ${'a'.repeat(5_000)} && rm -rf hidden`
    const session = await make('always_ask', `run: ${long}`)
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    const card = page.getByRole('group', { name: 'bash asks for your approval' })
    await card.getByText('rm -rf hidden').waitFor(patience)
    await card.getByRole('button', { name: 'Revise' }).click()
    await card.getByLabel('What it should run instead').fill('echo safe')
    const approve = card.getByRole('button', { name: /Approve/ })
    assert.equal(await approve.getAttribute('aria-disabled'), 'true')
    await page.waitForTimeout(500)
    await card.getByRole('button', { name: /Deny and revise/ }).click()
    await page.getByText('denied: Run this instead:').first().waitFor(patience)
    const { data } = await read(`/v1/sessions/${session}/events?types[]=user.tool_confirmation`)
    assert.partialDeepStrictEqual(data[0], { deny_message: 'Run this instead:\necho safe' })
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('finds in the whole log, shows the finding, and forks there', async () => {
    const session = await make('always_allow', 'run: echo a needle; exit 3\nsay: found.')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    await page.getByText('exit 3', { exact: true }).waitFor(patience)
    await page.getByRole('heading', { name: 'look into it' }).focus()
    await page.keyboard.press('/')
    await page.getByRole('searchbox').fill('NEEDLE')
    await page.getByRole('button', { name: /agent\.tool_result/ }).click()
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByText('agent.tool_result').first().waitFor(patience)
    await details.getByRole('button', { name: 'Fork here' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Fork', exact: true }).click()
    await page.getByRole('heading', { name: 'look into it (fork)' }).waitFor(patience)
    const [fork] = (await read('/v1/sessions')).data
    assert.partialDeepStrictEqual(fork, { forked_from: { session_id: session } })
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('shows its tools, its files and what changed in them, its usage', async () => {
    const session = await make(
      'always_allow',
      'write src/a.txt: hello\nrun: sed -i s/hello/goodbye/ src/a.txt; ls /nope\nsay: done.',
    )
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}?pane=tools`))
    const details = page.getByRole('complementary', { name: 'Details' })
    const row = details.getByRole('row', { name: /^bash/ })
    await row.waitFor(patience)
    assert.deepEqual((await row.getByRole('cell').allTextContents()).slice(0, 3), [
      'bash',
      '1',
      '1',
    ])
    await details.getByRole('tab', { name: 'Files' }).click()
    await details.getByRole('button', { name: /src\// }).click()
    await details.getByRole('button', { name: /a\.txt/ }).click()
    await details.getByText('goodbye').waitFor(patience)
    await details.getByRole('tab', { name: 'Changes' }).click()
    await details.getByText(/new .*src\/a\.txt/).click()
    await details.getByText('+goodbye').waitFor(patience)
    await details.getByRole('tab', { name: 'Usage' }).click()
    await details.getByRole('meter', { name: 'Context' }).waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('has a conversation and a lane for each thread that the agent has started', async () => {
    const multiagent = { type: 'coordinator', agents: [{ type: 'self' }] }
    const tools = [{ type: 'agent_toolset_20260401' }]
    const { body } = await service.ask('POST', '/v1/agents', {
      ...{ name: 'lead', model: 'offline', tools, multiagent },
    })
    const child = JSON.stringify({ agent: 'lead', message: 'run: echo from the child\nsay: told.' })
    const session = await makeSession(service, {
      ...{ agent: body.id, environment, title: 'a team', message: `call create_agent ${child}` },
    })
    await rested(session)
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    await page.getByRole('tab', { name: 'lead' }).waitFor(patience)
    assert.equal(
      await page.getByRole('tab', { name: 'lead' }).count(),
      1,
      'the primary is no child',
    )
    await page.getByRole('navigation', { name: 'Timeline' }).getByText('lead').waitFor(patience)
    assert.equal(await page.getByRole('button', { name: /^bash echo from the child/ }).count(), 0)
    await page.getByRole('tab', { name: 'lead' }).click()
    await page.getByRole('button', { name: /^bash echo from the child/ }).waitFor(patience)
    assert.match(page.url(), /thread=sthr_/)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('gives the agent files with a message, which lie in its sandbox before it reads', async () => {
    const session = await make('always_allow', 'say: hello.')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    const buffer = Buffer.from('what is in the notes')
    const files = page.getByLabel('Attach files').and(page.locator('input'))
    await files.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer })
    await page.getByRole('list', { name: 'Files for the agent' }).getByText('notes.txt').waitFor()
    await page.getByLabel('Write to the agent').fill('run: cat /home/user/files/*/notes.txt')
    await page.getByRole('button', { name: /^Send/ }).click()
    await page.getByText('what is in the notes').first().waitFor(patience)
    assert.equal(await page.getByRole('list', { name: 'Files for the agent' }).count(), 0)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('is renamed and archived, and takes no message then', async () => {
    const session = await make('always_allow', 'say: hello.', 'an old name')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByLabel('Title').fill('a new name')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'a new name' }).waitFor(patience)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Archive' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click()
    await page.getByPlaceholder('This session is archived: it takes no messages.').waitFor(patience)
    assert.notEqual((await read(`/v1/sessions/${session}`)).archived_at, null)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('says that a session does not exist, and leads back', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('sessions/sesn_01a21c9d00f97000baa7e3f38c90fc60'))
    await page.getByText('There is no such session.').waitFor(patience)
    await page.getByRole('link', { name: 'Show the sessions' }).click()
    await page.getByRole('heading', { name: 'Sessions' }).waitFor(patience)
    await visit.context.close()
  })
})
