import type Anthropic from '@anthropic-ai/sdk'
import type { MountedKind } from '@steward/space/mounted-kinds.ts'

export type ClientSession = Awaited<ReturnType<Anthropic['beta']['sessions']['retrieve']>>

export type InputTarget = {
  /** A client with the claim's token. */
  client: Anthropic
  session: ClientSession
  /** Kept for the session's next work item on this machine. The session never writes to this folder. */
  folder: string
  /** Host path of the working folder. Only the sandbox opens it. */
  workdir: string
  /** Host path of `/mnt/user`; undefined when the session has none. */
  user?: string | undefined
  /** True when the working folder holds the files of an earlier harness process of the session, on any machine. */
  isKnown: boolean
  /** True when commands see the host's own paths. */
  isHost: boolean
}

/**
 * Mounts one kind of input. No program outside of the sandbox follows paths that the session wrote: files for a folder
 * that the session writes to are copied inside the sandbox.
 */
export type MountInput = (target: InputTarget) => Promise<MountedKind>
