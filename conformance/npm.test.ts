/** The service and a worker as npm starts them. A signal that ends npm ends them too. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
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
      let text = ''
      const closed = once(child, 'close')
      await new Promise<void>((resolve, reject) => {
        const take = (piece: string) => {
          text += piece
          if (isUp.test(text)) resolve()
        }
        child.stdout.setEncoding('utf8').on('data', take)
        child.stderr.setEncoding('utf8').on('data', take)
        closed.then(() => reject(new Error(`it did not start: ${text}`)), reject)
      })
      child.kill('SIGTERM')
      const late = new Promise<string>((resolve) => setTimeout(resolve, 15_000, 'late'))
      assert.notEqual(await Promise.race([closed, late]), 'late', `it still runs: ${text}`)
    } finally {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL')
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH')
      }
    }
  }

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
