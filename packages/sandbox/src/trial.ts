/** Whether sandboxes start on this machine, found by starting some. */
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sandbox, SandboxSpec } from './sandbox.ts'

/** Without a gate and with one: the two have their networks from different hands. */
export async function tryOut(
  start: (spec: SandboxSpec) => Promise<Sandbox>,
  parent = tmpdir(),
): Promise<void> {
  mkdirSync(parent, { recursive: true, mode: 0o711 })
  const folder = mkdtempSync(join(parent, 'steward-check-'))
  const [workspace, outputs] = [join(folder, 'workspace'), join(folder, 'outputs')]
  const egress = { socket: join(folder, 'gate.sock'), certificates: join(folder, 'bundle.pem') }
  const limits = { memory: 128 << 20, processes: 32, cpus: 1, scratch: 1 << 20, file: 1 << 20 }
  const gate = createServer().listen(egress.socket)
  try {
    await once(gate, 'listening')
    for (const each of [workspace, outputs]) mkdirSync(each)
    writeFileSync(egress.certificates, '')
    const spec = { id: 'check', workspace, outputs, env: {}, limits, mounts: [], isLaidOut: false }
    for (const way of [null, egress]) {
      const sandbox = await start({ ...spec, egress: way })
      await sandbox.close()
    }
  } finally {
    gate.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
