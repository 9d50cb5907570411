/** The provider of a server that starts no sandboxes: the sessions of its tenants run on workers. */
import type { SandboxProvider } from './sandbox.ts'
import { SandboxEnded } from './sandbox.ts'

export const noSandboxesHere =
  'this server starts no sandboxes (SANDBOX_PROVIDER=none): use an environment of type self_hosted, whose workers run the session'

export function noSandboxes(): SandboxProvider {
  const refuse = async (): Promise<never> => {
    throw new SandboxEnded(noSandboxesHere)
  }
  return {
    name: 'none',
    refuseImage: () => noSandboxesHere,
    systemOf: () => undefined,
    imageOf: refuse,
    check: async () => ({
      ok: true,
      isolation: { level: 'kernel', network: 'none', gate: true, limits: 'none', users: 'own' },
    }),
    acquire: refuse,
    reap: async () => {},
  }
}
