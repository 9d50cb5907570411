/** Turns an access token into its login, with the role that the person has at this moment. */
import { minuteMs } from '@steward/base/settings/kinds.ts'
import { recentLookups } from '../../../ground/core/fairness/recent-lookups.ts'
import { hashToken } from '../../../ground/core/security/token.ts'
import type { Job } from '../../../ground/core/time/jobs.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { LoginPrincipal } from '../../../ground/http/principal.ts'
import { revokedKeysTopic } from '../../api-keys/authenticate.ts'
import type { KeyUses } from '../../api-keys/uses.ts'
import { peopleTopic } from '../../people/authenticate.ts'
import { oauthStore } from './store.ts'

const mostAtOnce = 500

type AuthenticatedLogin = {
  principal: LoginPrincipal
  expiresAt: number
  /** No use of the login is written down or noted. */
  isUnused: boolean
  /** The refresh token that was issued with the access token, while no use of either is written down. */
  unusedLine: string | null
}

export function loginAuthentication(ground: Ground, uses: KeyUses) {
  const { databases, clock, bus } = ground
  const { control } = databases

  async function look(hash: string): Promise<AuthenticatedLogin | undefined> {
    const row = await oauthStore(control.read).loginOf(hash)
    const role = row?.subject_role ?? row?.role ?? null
    if (!row || role === null || row.created_by === null) return undefined
    const isSubject = row.subject_role !== null
    return {
      principal: {
        kind: 'login',
        tenant: row.tenant_id,
        keyId: row.key_id,
        userId: row.created_by,
        isSubject,
        role,
        name: isSubject ? row.login_name : `${row.name} <${row.email}>`,
      },
      expiresAt: Date.parse(row.expires_at),
      isUnused: row.last_used_at === null,
      unusedLine: row.line_used_at === null ? row.line : null,
    }
  }

  const known = recentLookups(look, { clock, isAlone: control.dialect === 'sqlite' })
  bus.subscribe(revokedKeysTopic, () => known.forgetAll())
  bus.subscribe(peopleTopic, () => known.forgetAll())

  const usedLines = new Set<string>()
  let writeNow = (): void => {}

  function noteUse(login: AuthenticatedLogin): void {
    uses.note(login.principal.keyId, login.isUnused)
    login.isUnused = false
    if (login.unusedLine === null) return
    usedLines.add(login.unusedLine)
    login.unusedLine = null
    writeNow()
  }

  /** A line that is used can have no lost answer: see `exchangeRefreshToken`. */
  const job: Job = {
    name: 'note uses of access tokens',
    everyMs: minuteMs,
    start(runNow) {
      writeNow = runNow
      return () => {}
    },
    async run() {
      const some = [...usedLines].slice(0, mostAtOnce)
      if (some.length === 0) return true
      for (const line of some) usedLines.delete(line)
      await control.write((tx) => oauthStore(tx).noteUses(some, clock.now()))
      return usedLines.size === 0
    },
  }

  return {
    job,
    async loginOf(token: string): Promise<LoginPrincipal | undefined> {
      const found = await known.find(hashToken(token))
      if (!found || found.expiresAt <= clock.now()) return undefined
      noteUse(found)
      return found.principal
    },
  }
}
