import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { SkillVersion } from '@steward/protocol/skills.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { skillText } from '../skills.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { assertNoBarriers, visitAsViewer } from './pages.ts'

const hostile = '<img src=x onerror="document.title=1"> # not a heading\n'

void describe('skills in a browser', () => {
  let service: TestService
  let browser: TestBrowser
  let folder: string
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
    folder = await mkdtemp(join(tmpdir(), 'steward-skills-'))
  })
  after(async () => {
    await browser.close()
    await service.close()
    await rm(folder, { recursive: true })
  })
  const at = (path: string) => `${service.base}/console/${path}`
  const makeSkill = async (name: string, body: string) => {
    const files = [{ filename: 'SKILL.md', content: skillText(name, body) }]
    return (await service.ask('POST', '/v1/skills', { files })).body.id
  }
  const filesOf = async (skill: string) => {
    const path = `/v1/skills/${skill}/versions/latest`
    const { body } = await service.ask<SkillVersion>('GET', path)
    return body.files.map(({ filename }) => filename)
  }

  void it('reads the built-in skills, which nobody changes', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('skills'))
    await page.getByRole('link', { name: 'PDF' }).click()
    await page.getByText('# PDF files').waitFor(patience)
    await page.getByRole('button', { name: 'scripts/lib/cli.mjs' }).click()
    await page.getByRole('heading', { name: 'scripts/lib/cli.mjs' }).waitFor(patience)
    assert.equal(await page.getByRole('link', { name: 'New version' }).count(), 0)
    await page.getByRole('button', { name: 'More to do' }).click()
    const remove = page.getByRole('menuitem', { name: 'Delete' })
    assert.equal(await remove.getAttribute('aria-disabled'), 'true')
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('takes a SKILL.md that is written there, says what is wrong with it, and compares its versions', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('skills'))
    await page.getByRole('link', { name: 'New skill' }).click()
    await page.getByLabel('Title').fill('Greeting')
    const text = page.getByLabel('SKILL.md')
    await text.fill('Say hello.')
    await page.getByRole('button', { name: 'Upload the skill' }).click()
    await page.getByRole('alert').filter({ hasText: 'must begin with a head' }).waitFor(patience)
    await text.fill(skillText('greeting', hostile))
    await page.getByRole('button', { name: 'Upload the skill' }).click()
    await page.getByRole('heading', { name: 'Greeting' }).waitFor(patience)
    await page.getByText('# not a heading').waitFor(patience)
    assert.equal(await page.locator('main img').count(), 0)
    await page.getByRole('link', { name: 'New version' }).click()
    await page.getByText('# not a heading').first().waitFor(patience)
    await text.fill(skillText('greeting', 'Say good morning.\n'))
    await page.getByRole('button', { name: 'Upload the version' }).click()
    const diff = page.getByRole('region', { name: /beside the version before/ })
    await diff.getByText('Say good morning.').waitFor(patience)
    await diff.getByText('# not a heading').waitFor(patience)
    const { body } = await service.ask('GET', '/v1/skills?source=custom')
    const [skill] = body.data
    assert.equal(skill?.['display_title'], 'Greeting')
    const { data } = (await service.ask('GET', `/v1/skills/${skill?.id}/versions`)).body
    assert.equal(data.length, 2)
    await page.getByRole('button', { name: 'Delete this version' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Delete the version' }).click()
    await page.getByText('The first version').waitFor(patience)
    const last = page.getByRole('button', { name: 'Delete this version' })
    await last.and(page.getByTitle(/The last version of a skill stays/)).waitFor(patience)
    await page.getByRole('button', { name: 'More to do' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete the skill' }).click()
    await page.getByRole('heading', { name: 'Skills' }).waitFor(patience)
    assert.equal((await service.ask('GET', `/v1/skills/${skill?.id}`)).status, 404)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('takes a folder with its paths, and an archive of one', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    const uploaded = join(folder, 'notes')
    await mkdir(join(uploaded, 'scripts'), { recursive: true })
    await writeFile(join(uploaded, 'SKILL.md'), skillText('notes', 'Write notes.\n'))
    await writeFile(join(uploaded, 'scripts', 'list.mjs'), 'console.log(1)\n')
    await writeFile(join(uploaded, 'picture.bin'), Buffer.from([0, 1, 2, 255]))
    await page.goto(at('skills/new'))
    await page.getByLabel('Where it comes from').click()
    await page.getByRole('option', { name: 'A folder' }).click()
    await page.getByLabel('The folder').setInputFiles(uploaded)
    await page.getByText('files[]=@notes/SKILL.md').waitFor(patience)
    await page.getByRole('button', { name: 'Upload the skill' }).click()
    await page.getByRole('button', { name: 'picture.bin' }).click()
    await page.getByText('This file is no text: 4 bytes.').waitFor(patience)
    const [skill] = (await service.ask('GET', '/v1/skills?source=custom')).body.data
    const id = skill?.id ?? ''
    assert.deepEqual(await filesOf(id), ['SKILL.md', 'picture.bin', 'scripts/list.mjs'])
    const waiting = page.waitForEvent('download', patience)
    await page.getByRole('button', { name: 'Download the version as zip' }).click()
    const archive = join(folder, 'notes.zip')
    await (await waiting).saveAs(archive)
    await page.getByRole('link', { name: 'New version' }).click()
    await page.getByLabel('Where it comes from').click()
    await page.getByRole('option', { name: /it has more files than SKILL.md/ }).waitFor(patience)
    await page.getByRole('option', { name: 'A zip archive' }).click()
    await page.getByLabel('The archive').setInputFiles(archive)
    await page.getByRole('button', { name: 'Upload the version' }).click()
    await page.getByText('notes has a new version.').waitFor(patience)
    await page.getByText('Nothing differs.').waitFor(patience)
    assert.equal((await service.ask('GET', `/v1/skills/${id}/versions`)).body.data.length, 2)
    assert.deepEqual(await filesOf(id), ['SKILL.md', 'picture.bin', 'scripts/list.mjs'])
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('is off for a viewer, with the reason', async () => {
    const skill = await makeSkill('read-only', 'x')
    const visit = await visitAsViewer(browser, service)
    const { page } = visit
    const reason = page.getByTitle('A viewer reads and changes nothing')
    await page.goto(at('skills/new'))
    await page.getByRole('button', { name: 'Upload the skill' }).and(reason).waitFor(patience)
    await page.goto(at(`skills/${skill}/new`))
    await page.getByRole('button', { name: 'Upload the version' }).and(reason).waitFor(patience)
    await page.goto(at(`skills/${skill}?tab=versions`))
    await page.getByRole('button', { name: 'Delete this version' }).and(reason).waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('has no barrier, in both themes and on a phone', async () => {
    const skill = await makeSkill('looked-at', 'Look at it.\n')
    await assertNoBarriers(browser, service.base, [
      ['skills', 'looked-at'],
      [`skills/${skill}`, 'Look at it.'],
      [`skills/${skill}?tab=versions`, 'Look at it.'],
      [`skills/${skill}/new`, 'Look at it.'],
    ])
  })
})
