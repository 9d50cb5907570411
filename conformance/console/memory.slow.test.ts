import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { memoryBeta } from '../isolation-paths.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { assertNoBarriers, visitAsViewer } from './pages.ts'

const hostile = '<img src=x onerror="document.title=1"> **not bold** \u202ehidden'

void describe('memory in a browser', () => {
  let service: TestService
  let browser: TestBrowser
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `${service.base}/console/${path}`
  const ask = async (method: string, path: string, body?: object) =>
    (await service.ask(method, `/v1/memory_stores${path}`, body, { 'vendor-beta': memoryBeta }))
      .body
  const makeStore = async (name: string) => (await ask('POST', '', { name })).id
  const remember = async (store: string, path: string, content: string) =>
    (await ask('POST', `/${store}/memories`, { path, content })).id

  void it('leads from no store to a memory in a folder, which is read as text', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('memory'))
    await page.getByText('No memory store yet.').waitFor(patience)
    await page.getByRole('button', { name: 'New memory store' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('conventions')
    await dialog.getByLabel('What it is for').fill('How this team writes code')
    await dialog.getByRole('button', { name: 'Make the memory store' }).click()
    await page.getByRole('heading', { name: 'conventions' }).waitFor(patience)
    await page.getByText('Nothing is remembered here yet.').waitFor(patience)
    await page.getByRole('button', { name: 'New memory' }).click()
    await page.getByRole('textbox', { name: 'Path' }).fill('/style//naming.md')
    await page.getByLabel('Text', { exact: true }).fill(hostile)
    await page.getByRole('button', { name: 'Write the memory' }).click()
    await page.getByRole('alert').filter({ hasText: 'no segment that is empty' }).waitFor(patience)
    await page.getByRole('textbox', { name: 'Path' }).fill('/style/naming.md')
    await page.getByRole('button', { name: 'Write the memory' }).click()
    await page.getByRole('heading', { name: '/style/naming.md' }).waitFor(patience)
    await page.getByText('**not bold**').waitFor(patience)
    await page.getByText('U+202E').waitFor(patience)
    await page.getByRole('button', { name: 'naming.md', pressed: true }).waitFor(patience)
    assert.equal(await page.locator('main img').count(), 0)
    const [store] = (await ask('GET', '')).data
    const { data } = await ask('GET', `/${store?.id}/memories?view=full`)
    assert.deepEqual(
      data.map(({ path, content }) => [path, content]),
      [['/style/naming.md', hostile]],
    )
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('overwrites nobody: a text that was changed meanwhile is shown beside the own, and one is chosen', async () => {
    const store = await makeStore('shared')
    const memory = await remember(store, '/tone.md', 'Be brief.\n')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`memory/${store}?memory=${memory}`))
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Text', { exact: true }).fill('Be brief and kind.\n')
    await ask('POST', `/${store}/memories/${memory}`, { content: 'Be brief, and exact.\n' })
    const save = page.getByRole('button', { name: 'Save the memory' })
    await save.click()
    await page.getByText('Somebody changed this memory meanwhile.').waitFor(patience)
    const diff = page.getByRole('region', { name: /what it holds now/ })
    await diff.getByText('Be brief, and exact.').waitFor(patience)
    await diff.getByText('Be brief and kind.').waitFor(patience)
    assert.equal(await save.getAttribute('aria-disabled'), 'true')
    const read = () => ask('GET', `/${store}/memories/${memory}`)
    assert.equal((await read())['content'], 'Be brief, and exact.\n')
    await page.getByRole('button', { name: 'Write mine over it' }).click()
    await save.click()
    await page.getByText('/tone.md was saved.').waitFor(patience)
    assert.equal((await read())['content'], 'Be brief and kind.\n')
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('shows what each version changed, writes an old text again, and redacts', async () => {
    const store = await makeStore('history')
    const memory = await remember(store, '/secret.md', 'the password is swordfish\n')
    await ask('POST', `/${store}/memories/${memory}`, { content: 'ask the keeper\n' })
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`memory/${store}?memory=${memory}`))
    await page.getByRole('button', { name: 'Versions' }).click()
    const redact = page.getByRole('button', { name: 'Redact' })
    await redact.and(page.getByTitle(/what the memory holds now/)).waitFor(patience)
    const diff = page.getByRole('region', { name: /beside the version before/ })
    await diff.getByText('swordfish').waitFor(patience)
    await diff.getByText('ask the keeper').waitFor(patience)
    await page.getByRole('button', { name: /^written/ }).click()
    await page.getByRole('button', { name: 'Write this text again' }).click()
    await page.getByText('has the text of that version again').waitFor(patience)
    await page.getByRole('button', { name: 'Show the memory' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Text', { exact: true }).fill('ask Ada\n')
    await page.getByRole('button', { name: 'Save the memory' }).click()
    await page.getByText('/secret.md was saved.').waitFor(patience)
    await page.getByRole('button', { name: 'Versions' }).click()
    await page.getByRole('button', { name: /^written/ }).click()
    await redact.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Redact the version' }).click()
    await page.getByText('The text of this version was removed.').waitFor(patience)
    const { data } = await ask('GET', `/${store}/memory_versions?view=full`)
    assert.deepEqual(
      data.map(({ operation, content, redacted_at }) => [operation, content, redacted_at !== null]),
      [
        ['modified', 'ask Ada\n', false],
        ['modified', 'the password is swordfish\n', false],
        ['modified', 'ask the keeper\n', false],
        ['created', null, true],
      ],
    )
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('deletes a memory, archives a store and deletes it, each after it asked', async () => {
    const store = await makeStore('passing')
    const memory = await remember(store, '/a.md', 'x')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    const dialog = page.getByRole('dialog')
    await page.goto(at(`memory/${store}?memory=${memory}`))
    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete the memory' }).click()
    await page.getByText('Nothing is remembered here yet.').waitFor(patience)
    await page.getByRole('button', { name: 'More to do' }).click()
    await page.getByRole('menuitem', { name: 'Archive' }).click()
    await dialog.getByRole('button', { name: 'Archive the store' }).click()
    await page.getByText('This store is archived').first().waitFor(patience)
    const make = page.getByRole('button', { name: 'New memory' })
    assert.equal(await make.getAttribute('aria-disabled'), 'true')
    await page.getByRole('button', { name: 'More to do' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete the store' }).click()
    await page.getByRole('heading', { name: 'Memory' }).waitFor(patience)
    assert.equal((await ask('GET', `/${store}`))['type'], 'error')
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('is off for a viewer, with the reason', async () => {
    const store = await makeStore('read only')
    const memory = await remember(store, '/a.md', 'x')
    const visit = await visitAsViewer(browser, service)
    const { page } = visit
    await page.goto(at(`memory/${store}?memory=${memory}`))
    const reason = page.getByTitle('A viewer reads and changes nothing')
    for (const name of ['New memory', 'Edit', 'Delete'])
      await page.getByRole('button', { name }).and(reason).waitFor(patience)
    await page.goto(at('memory'))
    await page.getByRole('button', { name: 'New memory store' }).and(reason).waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('has no barrier, in both themes and on a phone', async () => {
    const store = await makeStore('looked at')
    const memory = await remember(store, '/style/naming.md', 'A type is a noun.')
    await assertNoBarriers(browser, service.base, [
      ['memory', 'looked at'],
      [`memory/${store}?memory=${memory}`, 'A type is a noun.'],
      [`memory/${store}?memory=${memory}&tab=versions`, 'A type is a noun.'],
    ])
  })
})
