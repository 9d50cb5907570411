import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoBarriers, assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { visitAs } from './workspace.ts'

const hostile =
  '<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=1"><script>document.title=2</script></svg>'
/** One red point. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)

void describe('files in a browser', () => {
  let service: TestService
  let browser: TestBrowser
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite', { env: { FILES_LARGEST_MB: '1' } })
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `${service.base}/console/${path}`
  const names = async () => {
    const { body } = await service.ask('GET', '/v1/files')
    return body.data.map(({ filename }) => String(filename)).toSorted()
  }
  const upload = async (name: string, bytes: string | Buffer, type: string) => {
    const file = new File([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)], name, {
      type,
    })
    return (await service.client.beta.files.upload({ file })).id
  }
  const choose = async (
    page: Page,
    files: { name: string; mimeType: string; buffer: Buffer }[],
  ) => {
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Upload files' }).click()
    await (await chooser).setFiles(files)
  }

  void it('are uploaded by the button and by dropping, and a refusal says why', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('files'))
    await page.getByText('No file yet.').waitFor(patience)
    const buffer = Buffer.from('day,cost\n1,2\n')
    await choose(page, [
      { name: 'report.csv', mimeType: 'text/csv', buffer },
      { name: 'large.bin', mimeType: 'application/x-one', buffer: Buffer.alloc(1_200_000) },
      { name: 'point.png', mimeType: 'image/png', buffer: png },
    ])
    await page.getByRole('alert').getByText('file: is larger than 1048576 bytes').waitFor(patience)
    for (const name of ['report.csv', 'point.png'])
      await page.getByRole('link', { name }).waitFor(patience)
    await page.getByRole('button', { name: 'Dismiss' }).first().click()
    await page.getByRole('alert').waitFor({ state: 'detached', ...patience })
    const dropped = await page.evaluateHandle(`(() => {
      const data = new DataTransfer()
      data.items.add(new File(['dropped'], 'dropped.txt', { type: 'text/plain' }))
      return data
    })()`)
    const list = page.locator('main')
    await list.locator('> div').first().dispatchEvent('dragover', { dataTransfer: dropped })
    await page.getByText('Drop the files here').waitFor(patience)
    await list.locator('> div').first().dispatchEvent('drop', { dataTransfer: dropped })
    await page.getByRole('link', { name: 'dropped.txt' }).waitFor(patience)
    assert.deepEqual(await names(), ['dropped.txt', 'point.png', 'report.csv'])
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('are seen as text or as a picture, and SVG is never a document', async () => {
    const [svg, picture, zip] = [
      await upload('drawing.svg', hostile, 'image/svg+xml'),
      await upload('dot.png', png, 'image/png'),
      await upload('bytes.zip', Buffer.from([0x50, 0x4b, 3, 4, 0, 0]), 'application/zip'),
    ]
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`files/${svg}`))
    await page.locator('main pre').getByText('document.title=2').waitFor(patience)
    assert.equal(await page.locator('main img, main pre svg, main script').count(), 0)
    assert.match(await page.title(), /^drawing\.svg/)
    await page.goto(at(`files/${picture}`))
    const image = page.getByRole('img', { name: 'dot.png' })
    await image.waitFor(patience)
    assert.match((await image.getAttribute('src')) ?? '', /^blob:/)
    await page.waitForFunction('document.querySelector("main img").naturalWidth === 1')
    await page.goto(at(`files/${zip}`))
    await page.getByText('There is no view of files of this type.').waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('are downloaded as they are, by key and by cookie, and deleted after a question', async () => {
    const id = await upload('notes.txt', 'line one\n', 'text/plain')
    const visits = [
      await browser.visit(service.base, { key: adminKey }),
      await visitAs(service, browser, 'member'),
    ]
    for (const visit of visits) {
      const { page } = visit
      await page.goto(at(`files/${id}`))
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Download' }).click()
      const saved = await download
      assert.equal(saved.suggestedFilename(), 'notes.txt')
      assert.equal(await readFile(await saved.path(), 'utf8'), 'line one\n')
    }
    const page = visits[0]?.page
    assert.ok(page)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the file' }).click()
    await page.getByRole('heading', { name: 'Files' }).waitFor(patience)
    assert.ok(!(await names()).includes('notes.txt'))
    for (const visit of visits) {
      assertNoFaults(visit)
      await visit.context.close()
    }
  })

  void it('are read by viewers, whose buttons are off with the reason', async () => {
    const visit = await visitAs(service, browser, 'viewer')
    const { page } = visit
    await page.goto(at('files'))
    const reason = page.getByTitle('A viewer reads and changes nothing')
    await reason.filter({ hasText: 'Upload files' }).waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('have no barrier in either theme', async () => {
    const text = await upload('seen.txt', 'line one\n', 'text/plain')
    const picture = await upload('seen.png', png, 'image/png')
    await assertNoBarriers(browser, service, ['files', `files/${text}`, `files/${picture}`])
  })
})
