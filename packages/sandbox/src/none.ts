/** Starts no sandbox: for a server whose sessions all run on workers. */
import type { SandboxProvider } from './sandbox.ts'
import { SandboxEnded } from './sandbox.ts'

const noSandboxes =
  'this server starts no sandboxes (SANDBOX_PROVIDER=none): use an environment of type self_hosted, whose workers run commands'

export const noSandboxProvider = (): SandboxProvider => ({
  name: 'none',
  refuseImage: () => noSandboxes,
  systemOf: () => undefined,
  imageOf: async () => undefined,
  check: async () => ({
    ok: true,
    isolation: { level: 'kernel', network: 'none', gate: true, limits: 'none', users: 'shared' },
  }),
  acquire: async () => {
    throw new SandboxEnded(noSandboxes)
  },
  reap: async () => {},
})
