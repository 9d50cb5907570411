/** Sign-in, configured from the settings. */
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Bus } from '../ground/bus/bus.ts'
import { baseUrl } from '../ground/config/base-url.ts'
import type { Config } from '../ground/config/config.ts'
import type { Databases } from '../ground/database/database.ts'
import type { Limits } from '../tenants/limits/limits.ts'
import { invitationUrl, openInvitations, inviteFirstOwner } from '../tenants/members/invitations.ts'
import { mailBy } from '../tenants/people/mail.ts'
import type { People } from '../tenants/people/people.ts'
import { peopleOf } from '../tenants/people/people.ts'
import { cookieKeysOf } from './storage.ts'

type StartPeopleDeps = {
  databases: Databases
  clock: Clock
  bus: Bus
  log: Log
  limits: Pick<Limits, 'admit' | 'people'>
}

export const peopleFor = (config: Config, { limits, ...deps }: StartPeopleDeps): People =>
  peopleOf(
    {
      keys: cookieKeysOf(config),
      publicUrl: config.publicUrl,
      base: baseUrl(config, config.port),
      providers: config.identityProviders,
    },
    {
      ...deps,
      mail: mailBy({ ...config.mail, log: deps.log }),
      admit: (of, key) => limits.admit(of, key),
      personLimits: limits.people,
      invited: openInvitations(deps),
    },
  )

/** Logs a link that makes its holder the first owner. Each start does so until somebody has signed in. */
export async function showFirstLink(
  config: Config,
  deps: Pick<StartPeopleDeps, 'databases' | 'clock' | 'log'> & { port: number },
): Promise<void> {
  const { databases, clock, log, port } = deps
  const token = await inviteFirstOwner(databases.control, { now: clock.now() })
  if (token === undefined) return
  log.info('nobody has signed in yet: open this link once to become the first owner', {
    link: invitationUrl(baseUrl(config, port), token),
  })
  if (config.mail.smtpUrl === undefined)
    log.info('SMTP_URL is not set: codes and links for people are written to this log')
}
