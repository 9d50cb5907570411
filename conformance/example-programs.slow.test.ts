/** The programs of examples/, each as a person runs it. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { adminKey, boot } from './service.ts'
import type { TestService } from './service.ts'

const folder = join(import.meta.dirname, '../examples')
const run = promisify(execFile)

/** What each program prints in the end, and how it is run. */
const programs: Record<string, RegExp> = {
  'typescript/first-session.ts': /Linux .* GNU\/Linux|Linux/,
  'typescript/stream-words.ts': /^These words come one after the other\.\n$/,
  'typescript/approve-a-command.ts': /Approving sevt_\w+\nThe tool answered .*deployed/,
  'typescript/own-tool.ts': /The agent asks for Lisbon\n[^]*18 °C/,
  'typescript/files.ts': /^sorted\.txt: 1 2 3\n$/,
  'typescript/secret-in-a-variable.ts': /the sandbox has (?!a-secret)\S+/,
  'typescript/every-morning.ts': /Runs next at \d{4}-[^]*it is \w+day/,
  'curl/first-session.sh': /session sesn_\w+\n.*Linux/,
  'curl/follow-a-session.sh': /session\.status_idle/,
  'python/first_session.py': /Linux/,
}
const interpreters: Record<string, string> = { ts: process.execPath, sh: 'sh', py: 'python3' }

describe('the examples', () => {
  let service: TestService
  before(async () => (service = await boot('sqlite')))
  after(() => service.close())

  for (const [name, printed] of Object.entries(programs))
    it(`run: ${name}`, async () => {
      const program = interpreters[name.split('.').at(-1) ?? ''] ?? ''
      const { PATH = '' } = process.env
      const env = { PATH, STEWARD_URL: service.base, STEWARD_API_KEY: adminKey }
      const { stdout } = await run(program, [join(folder, name)], { env })
      assert.match(stdout, printed)
      assert.doesNotMatch(stdout, /a-secret-that-stays-outside/)
    })

  it('are all listed, and no other is', async () => {
    const files = await readdir(folder, { recursive: true })
    const own = files.filter((path) => /\.(ts|sh|py)$/.test(path))
    assert.deepEqual(own.toSorted(), Object.keys(programs).toSorted())
    const page = await readFile(join(folder, 'README.md'), 'utf8')
    for (const name of own) assert.ok(page.includes(`| [${name}](${name}) |`), name)
  })
})
