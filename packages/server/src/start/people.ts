/** Sign-in, configured from the settings. */
import { baseUrl } from '../ground/config/base-url.ts'
import type { Config } from '../ground/config/config.ts'
import type { Ground } from '../ground/ground.ts'
import type { GroupSignIns } from '../tenants/people/identities/at-provider.ts'
import type { Limits } from '../tenants/limits/limits.ts'
import { invitationUrl, openInvitations, inviteFirstOwner } from '../tenants/members/invitations.ts'
import { mailBy } from '../tenants/people/mail.ts'
import type { People } from '../tenants/people/people.ts'
import { createPeople } from '../tenants/people/people.ts'
import { deriveCookieKeys } from './storage.ts'

export const peopleFor = (
  config: Config,
  { limits, groups, ...ground }: Ground & { limits: Limits; groups: GroupSignIns },
): People =>
  createPeople(
    {
      keys: deriveCookieKeys(config),
      publicUrl: config.publicUrl,
      base: baseUrl(config, config.port),
      providers: config.identityProviders,
      isByProvidersAlone: config.signInOnly === 'provider',
    },
    {
      ...ground,
      mail: mailBy({ ...config.mail, log: ground.log }),
      admit: (of, key) => limits.admit(of, key),
      personLimits: limits.people,
      invited: openInvitations(ground),
      groups,
    },
  )

/** Logs a link that makes its holder the first owner. Each start does so until somebody has signed in. */
export async function showFirstLink(
  config: Config,
  { databases, clock, log }: Ground,
  port: number,
): Promise<void> {
  // The link would lead to a form for a password.
  if (config.signInOnly === 'provider') return
  const token = await inviteFirstOwner(databases.control, { now: clock.now() })
  if (token === undefined) return
  log.info('nobody has signed in yet: open this link once to become the first owner', {
    link: invitationUrl(baseUrl(config, port), token),
  })
  if (config.mail.smtpUrl === undefined)
    log.info('SMTP_URL is not set: codes and links for people are written to this log')
}
