/** Sandboxes in a container with the rules of compose.yaml and of the chart's pods. The image is this machine's own system. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { z } from 'zod'

const run = promisify(execFile)
const podman = '/usr/bin/podman'
const root = join(import.meta.dirname, '../..')
/** The user of the images. */
const user = 10_001

const Server = z.object({
  read_only: z.boolean(),
  tmpfs: z.array(z.string()),
  cap_drop: z.array(z.string()),
  security_opt: z.array(z.string()),
})

/** As Podman spells the rules of the server in compose.yaml. */
function composeRules(): string[] {
  const text = readFileSync(join(root, 'deploy/compose/compose.yaml'), 'utf8')
  const file = z.looseObject({ services: z.looseObject({ server: Server }) })
  const { server } = file.parse(parse(text, { merge: true })).services
  const spelled = server.security_opt.map((rule) =>
    rule
      .replace('systempaths=unconfined', unmasked)
      .replace('seccomp=./', `seccomp=${join(root, 'deploy')}/`)
      .replace(':true', ''),
  )
  return [
    ...(server.read_only ? ['--read-only'] : []),
    ...server.tmpfs.flatMap((each) => ['--tmpfs', each]),
    ...server.cap_drop.flatMap((each) => ['--cap-drop', each]),
    ...spelled.flatMap((each) => ['--security-opt', each]),
  ]
}
/** As `procMount: Unmasked` of a pod. */
const unmasked = 'unmask=ALL'

describe(
  'a server in a container',
  {
    skip: process.getuid?.() !== 0 && 'only root can start this container',
  },
  () => {
    let folder: string
    let system: string
    let data: string
    before(() => {
      assert.ok(existsSync(podman), `${podman} is missing: apt-get install podman`)
      folder = mkdtempSync(join(tmpdir(), 'steward-container-'))
      system = join(folder, 'system')
      data = join(folder, 'data')
      for (const name of ['usr', 'etc', 'proc', 'sys', 'dev', 'run', 'tmp', 'data', 'opt/steward'])
        mkdirSync(join(system, name), { recursive: true })
      for (const name of ['bin', 'lib', 'lib64', 'sbin'])
        symlinkSync(`usr/${name}`, join(system, name))
      for (const name of ['passwd', 'group'])
        copyFileSync(`/etc/${name}`, join(system, 'etc', name))
      chmodSync(join(system, 'tmp'), 0o1777)
      mkdirSync(data)
      chownSync(data, user, user)
    })
    after(() => rmSync(folder, { recursive: true, force: true }))

    const inside = (path: string): string =>
      path.startsWith(`${root}/`) ? `/opt/steward${path.slice(root.length)}` : path

    /** What the doctor says about sandboxes. */
    async function examine(rules: readonly string[]): Promise<string> {
      const limits = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096']
      const mounts = ['/usr:/usr:ro', `${root}:/opt/steward:ro`, `${data}:/data`]
      const variables = { PLATFORM_ROOT_SECRET: '0123456789abcdef', DATA_DIR: '/data' }
      const words = [
        ...['run', '--rm', '--network', 'none', '--user', `${user}:${user}`, ...limits, ...rules],
        ...mounts.flatMap((each) => ['--volume', each]),
        ...Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
        ...['--rootfs', system, inside(process.execPath)],
        ...[inside(join(root, 'packages/server/src/main.ts')), 'doctor'],
      ]
      const { stdout } = await run(podman, words).catch((error: unknown) =>
        z.object({ stdout: z.string() }).parse(error),
      )
      return stdout
    }

    it('starts sandboxes under the rules of compose.yaml, as an ordinary user without capabilities', async () => {
      const rules = composeRules()
      assert.ok(rules.includes('--read-only') && rules.includes('no-new-privileges'))
      assert.match(await examine(rules), /^✓ sandboxes: one of bubblewrap starts \(.*gate true/m)
    })

    it('starts none where /proc has the usual masks, and says what to do', async () => {
      const rules = composeRules().map((each) => (each === unmasked ? 'label=disable' : each))
      const found = await examine(rules)
      assert.match(found, /^✗ sandboxes: .*Can't mount proc/m)
      assert.match(found, /to mend it: inside a container, .*docs\/containers\.md/)
    })
  },
)
