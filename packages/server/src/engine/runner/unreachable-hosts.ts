/**
 * Tells people which hosts of a session's credentials its environment lets no command reach. [egress/hosts/unreachable]
 */
import { newId } from '../../ground/core/text/ids.ts'
import type { MountKind } from './sandboxes/mount-kind.ts'

const retrying = { type: 'retrying' } as const

/** Mounts nothing. Only the first sandbox of a session tells, so that nobody reads the same error each time. */
export const tellUnreachableHosts: MountKind = async ({ egress, isKnown, keep }) => ({
  async started() {
    if (isKnown) return
    const errors = egress.unreachable().map(({ hosts, ...credential }) => ({
      type: 'credential_host_unreachable_error' as const,
      ...credential,
      message: `${credential.credential_id} is for ${hosts.join(', ')}, where the network of the environment lets no command go: allow it there, or take it out of the credential`,
      retry_status: retrying,
    }))
    if (errors.length > 0)
      await keep(errors.map((error) => ({ id: newId('event'), type: 'session.error', error })))
  },
})
