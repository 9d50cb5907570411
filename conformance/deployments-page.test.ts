/** Runs the programs of docs/deployments.md, unchanged, against a service and the offline model. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { adminKey, boot } from './service.ts'

const page = join(import.meta.dirname, '..', 'docs/deployments.md')

describe('the page about deployments', () => {
  it('has programs that print the output below them', async () => {
    const source = await readFile(page, 'utf8')
    const programs = [...source.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, body]) => body)
    const expected = [...source.matchAll(/^```\n((?:active|completed|order)[^]*?)^```$/gm)]
    const service = await boot('sqlite')
    try {
      const child = spawn(process.execPath, ['--input-type=module', '-'], {
        env: { PATH: process.env['PATH'], URL: service.base, KEY: adminKey },
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      child.stdin.end(programs.join('\n'))
      const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
      assert.equal(child.exitCode, 0, said)
      assert.equal(said, expected.map(([, body]) => body).join(''))
    } finally {
      await service.close()
    }
  })
})
