import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { secretFor, stubService } from '../service-fixture.ts'
import { harnessContract } from '../supervisor/contract.ts'
import { runtimeVariables } from '../variables.ts'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))
const sandbox = {
  ...{ provider: 'bubblewrap', image: 'none' },
  ...{ memory_mb: 256, processes: 64, cpus: 1 },
  ...{ disk_mb: 1024, disk_files: 10_000, free_mb: 0, free_files: 0 },
}
let opened = 0
const compiled = process.env['NODE_COMPILE_CACHE']

harnessContract('of this package', {
  command: [process.execPath, main],
  async open(command) {
    const session = `sesn_harness${process.pid}x${opened++}`
    const stub = await stubService()
    const call = { type: 'agent.tool_use', id: 'call_1', name: 'bash', input: { command } }
    stub.events.push({ ...call, evaluated_permission: 'allow' })
    const folder = await mkdtemp(join(tmpdir(), 'steward-harness-'))
    const [workdir, outputs] = [join(folder, 'workspace'), join(folder, 'outputs')]
    for (const each of [workdir, outputs]) await mkdir(each)
    const told = {
      ...{ environmentId: 'env_1', environmentKey: 'none', sessionId: session, workId: 'work_1' },
      ...{ workSecret: secretFor(session), baseUrl: stub.url },
    }
    return {
      env: {
        PATH: process.env['PATH'] ?? '',
        ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
        ...runtimeVariables('VENDOR', told),
      },
      start: {
        ...{ environment_id: 'env_1', session_id: session, work_id: 'work_1' },
        ...{ workdir, outputs, idle_ms: 60_000, settings: { sandbox } },
      },
      results: () => stub.posted.length,
      async [Symbol.asyncDispose]() {
        await stub[Symbol.asyncDispose]()
        await rm(folder, { recursive: true, force: true })
      },
    }
  },
})
