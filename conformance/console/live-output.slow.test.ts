/** What a running command writes, in the card of its call. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { until } from '../until.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoFaults, barriersOf, buildConsole, openBrowser, patience } from './browser.ts'
import { makeAgent, makeEnvironment, makeSession, say } from './workspace.ts'

const waitFor = (file: string): string => `until [ -e ${file} ]; do sleep 0.05; done`

void describe('a running command in the console', () => {
  let service: TestService
  let browser: TestBrowser
  let made: { agent: string; environment: string }
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
    made = {
      agent: await makeAgent(service, 'coder'),
      environment: await makeEnvironment(service),
    }
  })
  after(async () => {
    await browser.close()
    await service.close()
  })

  const make = (session: string, file: string) =>
    writeFile(join(service.dataDir, 'sandboxes', session, 'workspace', file), '')
  const open = async (title: string, options = {}) => {
    const session = await makeSession(service, { ...made, title })
    const visit = await browser.visit(service.base, { key: adminKey, ...options })
    await visit.page.goto(`${service.base}/console/sessions/${session}`)
    await visit.page.getByRole('heading', { name: title }).waitFor(patience)
    return { session, ...visit }
  }
  const run = (session: string, command: string) =>
    say(service, session, `call bash ${JSON.stringify({ command })}`)
  const live = (page: Page) => page.getByRole('group', { name: 'Output so far' })

  void it('shows what it has written, and its result in the end', async () => {
    const visit = await open('watch a command')
    const { page, session } = visit
    await run(session, `for i in 1 2 3; do echo step $i of 3; ${waitFor('$i')}; done; echo done`)
    for (const step of ['1', '2', '3']) {
      await live(page).getByText(`step ${step} of 3`).waitFor(patience)
      await make(session, step)
    }
    await live(page).waitFor({ ...patience, state: 'detached' })
    await page
      .getByRole('button', { name: /^bash for i/ })
      .first()
      .click()
    const result = page.getByRole('group', { name: 'Result' })
    await result.getByText('done').waitFor(patience)
    assert.match(await result.innerText(), /step 1 of 3\nstep 2 of 3\nstep 3 of 3\ndone/)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('shows a page that opens later the end of its output, and how long it is silent', async () => {
    const visit = await open('a silent command')
    const { page, session } = visit
    await page.clock.install()
    await run(session, `seq 1 3000; ${waitFor('go')}`)
    await live(page).getByText('3000').waitFor(patience)
    await page.reload()
    await live(page).getByText('2999\n3000').waitFor(patience)
    assert.match(await live(page).innerText(), /^… .* not shown …\n\d+\n/)
    const silence = page.getByText(/no output for/)
    assert.equal(await silence.count(), 0)
    // The service tells the true silence soon after the clock of the page has jumped.
    await until(async () => {
      await page.clock.fastForward(60_000)
      return (await silence.count()) > 0
    })
    const card = page.getByRole('button', { name: /^bash seq/ })
    assert.doesNotMatch(await card.ariaSnapshot(), /no output|\d s/)
    assert.equal(await live(page).getAttribute('aria-live'), 'off')
    await make(session, 'go')
    await live(page).waitFor({ ...patience, state: 'detached' })
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('keeps what it shows when another tab opens it, and has no barriers in either theme', async () => {
    const visit = await open('two tabs', { bypassCSP: true })
    const { page, session } = visit
    const command = `seq 1 700; ${waitFor('a')}; seq 701 1400; ${waitFor('b')}; echo end; ${waitFor('c')}`
    await run(session, command)
    await live(page).getByText('699\n700').waitFor(patience)
    await make(session, 'a')
    await live(page).getByText('1399\n1400').waitFor(patience)
    const { page: other } = await browser.tab(visit, service.base)
    await other.goto(page.url())
    await live(other).getByText('1399\n1400').waitFor(patience)
    await make(session, 'b')
    for (const each of [page, other]) await live(each).getByText('1400\nend').waitFor(patience)
    assert.match(await live(page).innerText(), /^1\n2\n3\n[^]*\n699\n700\n701\n[^]*\n1400\nend\n?$/)
    assert.match(await live(other).innerText(), /^… .* not shown …\n\d+\n[^]*\nend\n?$/)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      assert.deepEqual(await barriersOf(page), [], colorScheme)
    }
    await make(session, 'c')
    await live(page).waitFor({ ...patience, state: 'detached' })
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('stays text, and the page usable, whatever a command writes', async () => {
    const visit = await open('hostile output')
    const { page, session } = visit
    const hostile = [
      'seq 1 50000',
      "head -c 4194304 /dev/zero | tr '\\\\0' a; echo",
      "printf '\\\\033[31mred\\\\033[0m <img src=x onerror=alert(1)> \\\\342\\\\200\\\\256sdrawkcab\\\\n'",
      waitFor('go'),
    ]
    await run(session, hostile.map((each) => each.replaceAll('\\\\', '\\')).join('; '))
    await live(page).getByText('<img src=x onerror=alert(1)>').waitFor(patience)
    const text = await live(page).innerText()
    assert.ok(text.length < 20_000 && text.includes('red <img') && !text.includes('\u001b'))
    assert.equal(await page.locator('img[src=x]').count(), 0)
    const sideways = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
    assert.equal(await page.evaluate(sideways), false)
    const box = await live(page).boundingBox()
    assert.ok(box && box.height < 200)
    await page.getByRole('button', { name: /^bash seq/ }).click()
    await make(session, 'go')
    await page.getByRole('group', { name: 'Result' }).waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })
})
