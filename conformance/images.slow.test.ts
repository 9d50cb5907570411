/** The images as an operator runs them: read-only, without capabilities, as a user of their own. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { freePort } from '@steward/server/ground/bus/direct/fixture.ts'
import type { ImageEngine, RunningContainer } from './images.ts'
import { imageEngine, sandboxFlags } from './images.ts'
import { adminKey, clientsOf, rootSecret } from './service.ts'
import { all, newSession, textOf, turn } from './turns.ts'
import { newPool, restsAfter, sessionIn } from './workers.ts'
import { workerVariables } from './worker-process.ts'

const isRoot = process.getuid?.() === 0
const steward = ['/usr/local/bin/node', '/opt/steward/dist/bin/steward.cjs']

describe('the images', { skip: !isRoot && 'debootstrap needs root' }, () => {
  let engine: ImageEngine
  let images: Record<'server' | 'worker', string>
  before(async () => {
    engine = await imageEngine()
    images = { server: await engine.build('server'), worker: await engine.build('worker') }
  })
  after(() => engine[Symbol.asyncDispose]())

  async function startServer(
    env: Record<string, string> = {},
    flags: readonly string[] = sandboxFlags,
  ): Promise<{ container: RunningContainer; base: string }> {
    const PORT = String(await freePort())
    const variables = { PORT, PLATFORM_ROOT_SECRET: rootSecret, API_KEY: adminKey, ...env }
    const container = engine.run(images.server, { env: variables, flags })
    await container.until(/"message":"listening"/)
    return { container, base: `http://127.0.0.1:${PORT}` }
  }

  /** Names and states of all processes in the container. */
  const processesIn = async (container: RunningContainer) => {
    const list = `for (const pid of require('fs').readdirSync('/proc')) if (/^\\d+$/.test(pid)) try {
      console.log(require('fs').readFileSync('/proc/' + pid + '/stat', 'utf8').split(' ').slice(0, 3).join(' ')) } catch {}`
    return (await container.exec('/usr/local/bin/node', '-e', list)).split('\n')
  }

  it('let an agent run a program in a sandbox, without rights and without a trace of the dead', async () => {
    const { container, base } = await startServer()
    const service = clientsOf(base)
    const session = await newSession(service, { tools: [{ type: 'agent_toolset_20260401' }] })
    const log = await turn(service, session, 'run: echo made in a sandbox; id -u; (sleep 0.1 &)')
    assert.match(textOf(all(log, 'agent.tool_result')[0] ?? assert.fail()), /^made in a sandbox\n/)
    const processes = await processesIn(container)
    assert.match(processes[0] ?? '', /^1 \(tini\)/)
    assert.deepEqual(
      processes.filter((line) => line.endsWith(' Z')),
      [],
    )
    assert.match(await container.exec(...steward, 'ready'), /^ready: /)
    assert.equal(await container.stop(), 0, container.said())
    assert.match(container.said(), /"message":"stopping","signal":"SIGTERM"/)
  })

  it('run as a user of their own, with a check of their health, and say what they hold', async () => {
    const described = await engine.podman('inspect', images.server)
    const [image] = JSON.parse(described) as [
      { User: string; Labels: Record<string, string>; Healthcheck: { Test: string[] } },
    ]
    assert.equal(image.User, '10001:10001')
    assert.deepEqual(image.Healthcheck.Test, ['CMD', ...steward, 'ready'])
    assert.equal(image.Labels['org.opencontainers.image.licenses'], 'Apache-2.0')
  })

  it('say in an engine with its usual filter what to change, and serve workers all the same', async () => {
    const closed = engine.run(images.server, {
      env: { PORT: '0', PLATFORM_ROOT_SECRET: rootSecret },
      words: ['doctor'],
    })
    await closed.until(/✗ sandboxes: .*\n.*docs\/containers\.md.*SANDBOX_PROVIDER=none/)

    const { container, base } = await startServer({ SANDBOX_PROVIDER: 'none' }, [])
    const service = clientsOf(base)
    await assert.rejects(newSession(service), /environment_id: this server starts no sandboxes/)
    const pool = await newPool(service)
    const worker = engine.run(images.worker, {
      env: { ...workerVariables(service, pool), WORKER_DIR: '/data/worker' },
      flags: sandboxFlags,
    })
    await worker.until(/"message":"working"/)
    const session = await sessionIn(service, pool)
    const log = await restsAfter(service, session, 'run: git --version\nsay: done')
    assert.match(textOf(all(log, 'user.tool_result')[0] ?? assert.fail()), /^git version/)
    assert.equal(await worker.stop(), 0, worker.said())
    assert.equal(await container.stop(), 0, container.said())
  })
})
