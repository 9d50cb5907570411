/** Runs the commands of docs/company-rules.md in their order against a service and the offline model. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { readConfig } from '@steward/server/ground/config/config.ts'
import type { TestService } from './service.ts'
import { adminKey, boot, rootSecret } from './service.ts'

const page = join(import.meta.dirname, '..', 'docs/company-rules.md')

describe('the page about rules of a company', () => {
  let service: TestService
  let blocks: string[]
  const isSettings = (block: string) => /^(ALLOWED|RETENTION)_/.test(block)
  before(async () => {
    service = await boot('sqlite')
    const source = await readFile(page, 'utf8')
    blocks = [...source.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, body = '']) => body)
  })
  after(() => service.close())

  it('has settings that the server reads', () => {
    const lines = blocks.filter(isSettings).join('').trim().split('\n')
    const pairs = lines.map((line) => {
      const at = line.indexOf('=')
      return [line.slice(0, at), line.slice(at + 1)]
    })
    const read = readConfig({ PLATFORM_ROOT_SECRET: rootSecret, ...Object.fromEntries(pairs) })
    assert.ok(read.ok, JSON.stringify(read))
    assert.deepEqual(read.config.allowed.webhooks, ['hooks.example.com'])
    assert.deepEqual(read.config.retentionDays.most, { sessions: 730 })
  })

  it('has commands that allow, keep, hold and refuse as the page says', async () => {
    const script = blocks
      .filter((block) => !isSettings(block))
      .map((block) => `${block}\necho\n`)
      .join('')
      .replace(/^export URL.*$/m, '')
    const child = spawn('bash', ['-c', script], {
      env: { PATH: process.env['PATH'], URL: service.base, KEY: adminKey },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
    assert.equal(child.exitCode, 0, said)
    const wanted = [
      /"type":"rules".*"models":\{"operator":null,"workspace":\["offline"\]\}/,
      /claude-sonnet-4-5 is not allowed in this workspace: its rule models/,
      /"models":\{"operator":null,"workspace":null\}/,
      /"type":"retention","sessions":\{"days":90,"workspace":90/,
      /session sesn_\w+ is kept by the hold hold_\w+ on its session: an owner or an admin/,
      /"type":"hold".*"released_at":"2/,
    ]
    let rest = said
    for (const pattern of wanted) {
      const found = pattern.exec(rest)
      assert.ok(found, `${String(pattern)} in ${rest}`)
      rest = rest.slice(found.index)
    }
  })
})
