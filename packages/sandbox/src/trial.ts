/** Tests whether sandboxes start on this machine by starting some. */
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { socketPath } from '@steward/base/socket-path.ts'
import type { Sandbox, SandboxSpec } from './sandbox.ts'

const prefix = 'steward-check-'

/** Removes the folders of killed trials of this user. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue
    const folder = join(parent, name)
    const isOurs = lstatSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.()
    if (isOurs) rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts one sandbox without a gate and one with a gate, because they get their networks in different ways. */
export async function tryProvider(
  start: (spec: SandboxSpec) => Promise<Sandbox>,
  parent = tmpdir(),
): Promise<void> {
  mkdirSync(parent, { recursive: true, mode: 0o711 })
  removeLeftovers(parent)
  const folder = mkdtempSync(join(parent, `${prefix}${process.pid}-`))
  const [workspace, outputs] = [join(folder, 'workspace'), join(folder, 'outputs')]
  const egress = { socket: join(folder, 'gate.sock'), certificates: join(folder, 'bundle.pem') }
  const limits = { memory: 128 << 20, processes: 32, cpus: 1, scratch: 1 << 20, file: 1 << 20 }
  const named = socketPath(egress.socket)
  const gate = createServer().listen(named.path)
  try {
    await once(gate, 'listening')
    for (const each of [workspace, outputs]) mkdirSync(each)
    writeFileSync(egress.certificates, '')
    const spec = {
      id: 'check',
      workspace,
      outputs,
      env: {},
      limits,
      mounts: [],
      isPrefilled: false,
    }
    for (const way of [null, egress]) {
      const sandbox = await start({ ...spec, egress: way })
      await sandbox.close()
    }
  } finally {
    gate.close(() => named.forget())
    rmSync(folder, { recursive: true, force: true })
  }
}
