/** A session's ways out, all over one standing. */
import { join } from 'node:path'
import type { Authority } from '@steward/gate/authority.ts'
import { openGate, takingGate } from '@steward/gate/gate.ts'
import type { Gate } from '@steward/gate/gate.ts'
import { Refused } from '@steward/gate/outbound.ts'
import type { Share } from '../../../ground/core/share.ts'
import type { Secrets } from '../../../resources/vaults/auth.ts'
import { clis } from '../../../resources/vaults/clis.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import type { OutboundFetch, SessionEgress } from '../binding.ts'
import { secretsOfCommand } from '../policy/credential.ts'
import { fetchOver } from './fetch.ts'
import type { OutboundCall, OutboundContext } from '../inject/forward.ts'
import type { OwnerDeps } from './owner.ts'
import { gateOwner } from './owner.ts'
import { placeholderOf } from '../inject/placeholder.ts'
import type { SessionOutbound } from '../inject/standing.ts'

export type SessionDeps = OwnerDeps & {
  open: (row: CredentialRow) => Secrets
  placeholderKey: Buffer
  authority: Authority
  /** Path of the bundle that sandboxes trust. */
  certificates: () => Promise<string>
  /** Of the connections that sandboxes hold to their gates. */
  connections: Share
  /** Of one sandbox. */
  mostConnections: number
}

/** Refusals have a host; what concerns no call names the sandbox. */
const sandbox = { host: 'sandbox', port: 0 }
const crowded = {
  ...sandbox,
  reason: 'limit',
  message:
    'this workspace holds as many connections as there is room for; close some, or try again later',
} as const

const noting =
  (standing: SessionOutbound, fetch: OutboundFetch): OutboundFetch =>
  async (...request) => {
    try {
      return await fetch(...request)
    } catch (error) {
      if (error instanceof Refused) standing.note(error.refusal)
      throw error
    }
  }

export function sessionEgress(standing: SessionOutbound, deps: SessionDeps): SessionEgress {
  const { forward, records, profile, open } = deps
  const { tenant, session } = standing
  const gates = new Set<Gate>()

  const fetching = (
    callOf: (url: URL) => OutboundCall,
    on: OutboundContext = standing,
  ): OutboundFetch => fetchOver((request) => forward.forward(request, on, callOf(request.url)))

  function admit(): (() => void) | undefined {
    const giveBack = deps.connections.take(standing.tenant)
    if (!giveBack) standing.note(crowded)
    return giveBack
  }

  const behind = {
    ...{ authority: deps.authority, owner: gateOwner(standing, deps), admit },
    limits: { connections: deps.mostConnections },
  }

  async function leave(gate: Gate): Promise<void> {
    gates.delete(gate)
    await gate.close()
  }

  async function placeholders(): Promise<Record<string, string>> {
    if (profile === 'disabled') return {}
    const { credentials } = await standing.look(sandbox)
    const names = credentials.flatMap(({ id, auth }) => {
      const name = variableOf(auth)
      const place = { tenant, session, credential: id }
      return name ? [[name, placeholderOf(deps.placeholderKey, place)] as const] : []
    })
    // The first vault's wins: it is laid last.
    return Object.fromEntries(names.toReversed())
  }

  return {
    mcpFetch({ name, url, authorization_token }) {
      const named = new URL(url)
      const base = { caller: 'rpc-mcp', server: name } as const
      // Refusals are the server's failure, and concern no command.
      // What the server says of other places does not lead its credential there.
      return fetching(({ origin }) =>
        origin === named.origin
          ? { ...base, credentials: 'server', named, inline: authorization_token ?? undefined }
          : { ...base, credentials: 'none' },
      )
    },

    outboundFetch({ credentials }) {
      const has = credentials && profile !== 'disabled'
      const fetch = fetching(({ hostname }) => ({
        caller: 'rpc-outbound',
        server: hostname,
        credentials: has ? 'host' : 'none',
      }))
      return noting(standing, fetch)
    },

    searchFetch() {
      const call = { caller: 'rpc-outbound', credentials: 'none' } as const
      return noting(
        standing,
        fetching(({ hostname }) => ({ ...call, server: hostname }), standing.operated),
      )
    },

    placeholders,

    async openGate(folder, uid) {
      const env = await placeholders()
      const socket = join(folder, 'egress.sock')
      const certificates = await deps.certificates()
      const own = { socketPath: socket, ...(uid === undefined ? {} : { uid }) }
      const gate = await openGate({ ...behind, ...own })
      gates.add(gate)
      if (standing.isRevoked) await gate.close()
      return { socket, certificates, env, close: () => leave(gate) }
    },

    takingGate() {
      const gate = takingGate(behind)
      gates.add(gate)
      if (standing.isRevoked) void gate.close()
      return { ...gate, close: () => leave(gate) }
    },

    async commandSecrets(words) {
      if (profile === 'disabled') return {}
      const { credentials } = await standing.look(sandbox)
      const rows = secretsOfCommand(credentials, words)
      const about = { tenant, session, caller: 'rpc-outbound', ...command } as const
      const uses = rows.map((row) => records.begin(about, row))
      await Promise.all(uses.map(({ durable }) => durable()))
      for (const use of uses) use.end({ status: 200, refreshed: false, ms: 0 })
      const pairs = rows.map((row) => [row.auth.env_var, open(row).token ?? ''])
      return Object.fromEntries(pairs.toReversed()) as Record<string, string>
    },

    takeRefusals: () => standing.refusals.splice(0),
    takeNotices: () => standing.notices.splice(0),
    renew: (generation) => standing.renew(generation),
    revoke() {
      standing.revoke()
      for (const gate of gates) void gate.close()
      gates.clear()
    },
  }
}

/** How the audit names a secret that is used by a command of the sandbox, and not by a call. */
const command = { server: 'command', host: 'sandbox', method: 'EXEC' } as const

function variableOf(auth: CredentialRow['auth']): string | undefined {
  if (auth.type === 'environment_variable') return auth.secret_name
  return auth.type === 'cap_cli' ? clis[auth.cli_id]?.variable : undefined
}
