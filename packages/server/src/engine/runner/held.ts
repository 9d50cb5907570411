/** What the session holds in this process, and what that is made of. */
import { join } from 'node:path'
import type { MountedKinds } from '@steward/space/mounted-kinds.ts'
import type { McpServers } from '@steward/harness/tools/mcp/servers.ts'
import type { Notice } from '@steward/harness/turn.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type {
  Sandbox,
  SandboxLimits,
  SandboxProvider,
  SandboxSpec,
} from '@steward/sandbox/sandbox.ts'
import type { Checkpoints } from '../../resources/checkpoints/checkpoints.ts'
import type { Saving } from '../../ground/config/config.ts'
import type { Log } from '@steward/base/log.ts'
import type { Share } from '../../ground/core/share.ts'
import type { Clock } from '@steward/base/time.ts'
import type { SessionEgress } from '../egress/callers/session.ts'
import type { OutboundLease } from '../egress/inject/context.ts'
import type { SessionRow } from '../../sessions/rows/sessions.ts'
import type { MountKind } from './mount-kind.ts'

export type WorkspaceDeps = {
  provider: SandboxProvider
  bind: (lease: OutboundLease) => SessionEgress
  /** Folder of all workspaces; every process of a deployment sees the same one. */
  folder: string
  limits: SandboxLimits
  /** Of the sandboxes of this process. */
  share: Share
  /** Whether commands have ways around the gate, and the profile is one that says so. */
  isPassable: boolean
  idleMs: number
  /** The kinds that are mounted into every sandbox. */
  kinds: readonly MountKind[]
  session: (tenant: string, session: string) => Promise<SessionRow>
  checkpoints: Checkpoints
  /** When workspaces are put aside. */
  saving: Saving
  /** Makes files of what the session has left for people, at the end of a turn, whether or not its sandbox runs. */
  publish: (claimed: RunLease, own: string, isRunning: boolean) => Promise<void>
  /** Appends to the session's log for as long as the claim holds. */
  keep: (claimed: RunLease, events: readonly NewEvent[]) => Promise<void>
  clock: Clock
  log: Log
}

export type RunLease = OutboundLease & { generation: number }
/** `released`: resolves when the sandbox and everything mounted into it has been cleaned up. */
export type StartedSandbox = { sandbox: Sandbox; mounted: MountedKinds; released: Promise<void> }
export type HeldSandbox = {
  lease: RunLease
  egress: SessionEgress
  started?: Promise<StartedSandbox>
  /** The same, once it runs. */
  running?: StartedSandbox
  /** Ends the wait for a place of the sandbox. */
  waiting: AbortController
  connected?: { key: string; servers: McpServers }
  /** Settles when servers that are no longer wanted have been taken leave of. */
  leaving: Promise<unknown>
  notices: Notice[]
  /** Whether something may have changed since the workspace was last put aside. */
  isChanged: boolean
}

export const placeOf = (
  folder: string,
  session: string,
): Pick<SandboxSpec, 'id' | 'workspace' | 'outputs'> => ({
  id: session,
  workspace: join(folder, session, 'workspace'),
  outputs: join(folder, session, 'outputs'),
})
