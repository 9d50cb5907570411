/** The service and a worker as npm starts them. A signal that ends npm ends them too. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { adminKey, boot, rootSecret } from './service.ts'
import type { TestService } from './service.ts'
import { newPool } from './workers.ts'
import { workerVariables } from './worker-process.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

describe('npm', () => {
  let service: TestService
  let folder: string
  before(async () => {
    service = await boot('sqlite')
    folder = await mkdtemp(join(tmpdir(), 'steward-npm-'))
  })
  after(async () => {
    await service.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Resolves when no process holds the output pipes, so every process that npm started has ended. */
  async function endsBySigterm(args: string[], env: Record<string, string>, isUp: RegExp) {
    const path = `${dirname(process.execPath)}:${process.env['PATH']}`
    const child = spawn('npm', args, {
      cwd: root,
      env: { PATH: path, HOME: folder, npm_config_update_notifier: 'false', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    try {
      let said = ''
      const closed = once(child, 'close')
      await new Promise<void>((resolve, reject) => {
        const take = (piece: string) => {
          said += piece
          if (isUp.test(said)) resolve()
        }
        child.stdout.setEncoding('utf8').on('data', take)
        child.stderr.setEncoding('utf8').on('data', take)
        closed.then(() => reject(new Error(`it did not start: ${said}`)), reject)
      })
      child.kill('SIGTERM')
      const late = sleep(15_000, 'late', { ref: false })
      assert.notEqual(await Promise.race([closed, late]), 'late', `it still runs: ${said}`)
    } finally {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL')
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH')
      }
    }
  }

  it('names npm ci where Node is too old, where nothing is installed, and where the tests lack packages', async () => {
    const bin = await mkdtemp(join(folder, 'bin-'))
    await writeFile(join(bin, 'node'), '#!/bin/sh\necho v20.19.2\n', { mode: 0o755 })
    const script = join(root, 'scripts/needs-node.sh')
    const run = async (cwd: string, path: string) => {
      const child = spawn('sh', [script, 'tests'], { cwd, env: { PATH: path }, stdio: 'pipe' })
      const [said] = await Promise.all([text(child.stderr), once(child, 'close')])
      return [child.exitCode, said] as const
    }
    const [oldCode, old] = await run(root, `${bin}:/usr/bin:/bin`)
    assert.equal(oldCode, 1)
    assert.match(old, /Node 24 or newer is needed, and .* is v20\.19\.2: run npm ci/)
    const [noneCode, none] = await run(bin, `${dirname(process.execPath)}:/usr/bin:/bin`)
    assert.equal(noneCode, 1)
    assert.match(none, /run npm ci first/)
    await mkdir(join(bin, 'node_modules'))
    const [fewCode, few] = await run(bin, `${dirname(process.execPath)}:/usr/bin:/bin`)
    assert.equal(fewCode, 1)
    assert.match(few, /npm install --no-save adds them/)
    const fine = await run(root, `${dirname(process.execPath)}:/usr/bin:/bin`)
    assert.deepEqual(fine, [0, ''])
  })

  it('start ends the server when it is ended', async () => {
    const env = {
      ...{ PORT: '0', DATA_DIR: join(folder, 'data'), SANDBOX_DIR: join(folder, 'sandboxes') },
      ...{ PLATFORM_ROOT_SECRET: rootSecret, API_KEY: adminKey },
    }
    await endsBySigterm(['start'], env, /"url":"http/)
  })

  it('run worker ends the worker when it is ended', async () => {
    const env = {
      ...workerVariables(service, await newPool(service)),
      ...{ SANDBOX_PROVIDER: 'local', WORKER_DIR: join(folder, 'worker') },
    }
    await endsBySigterm(['run', 'worker'], env, /"message":"working"/)
  })
})
