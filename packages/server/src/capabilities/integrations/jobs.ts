/**
 * The jobs of integrations. Every process runs all of them; leases and transactions decide which process does the work.
 */
import { iso } from '@steward/base/time.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Database } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import { renewAccess } from './installations/app-access.ts'
import { renewCheckout } from './deliveries/checkout.ts'
import { dispatchDelivery } from './deliveries/dispatch.ts'
import { dispatchJob } from './deliveries/dispatch-job.ts'
import { keptDeliveryMs } from './deliveries/receive.ts'
import { keepGenuine } from './deliveries/receive-app.ts'
import { renewJob } from './installations/renew-job.ts'
import { idOf } from './slack/slack.ts'
import type { SlackSocket } from './slack/socket.ts'
import { slackSocketJob } from './slack/socket.ts'
import { integrationStore } from './store.ts'
import type { Holds } from './answers/holds.ts'
import { rememberAnswers } from './remembered.ts'
import { tellThread } from './answers/tell.ts'
import { tellJob } from './answers/tell-job.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import type { OpenIntegrations } from './open.ts'
import type { UploadLimits } from '../../resources/files/upload.ts'

const forgetEveryMs = 10 * 60_000
const mostForgotten = 500

type IntegrationDeps = OpenSessionDeps & OpenIntegrations & { files: UploadLimits }

export function integrationJobs(deps: IntegrationDeps): Job[] {
  const holds: Holds = new Map()
  const telling = { ...deps, holds }
  const giving = { ...deps, holds, remembered: rememberAnswers(deps.clock) }
  return [
    dispatchJob({ ...deps, dispatch: (context, id) => dispatchDelivery(giving, context, id) }),
    tellJob({ ...deps, tell: (context, id) => tellThread(telling, context, id) }),
    renewJob({
      ...deps,
      renewAccess: (context, row) => renewAccess(deps, context, row),
      renewCheckout: (context, row) => renewCheckout(deps, context, row),
    }),
    forgetJob(deps),
    ...(deps.slackSocket ? [socketJob(deps, deps.slackSocket)] : []),
  ]
}

const socketJob = (deps: IntegrationDeps, socket: SlackSocket): Job =>
  slackSocketJob({
    ...socket,
    send: deps.sendToProvider,
    log: deps.log,
    take: (body) => keepGenuine(deps, { integration: 'slack', id: idOf(body), body }),
  })

function forgetJob({ databases, clock }: IntegrationDeps): Job {
  const walk = databases.walk(forgetEveryMs)
  const forgetAll = async (db: Database): Promise<boolean> => {
    const before = iso(clock.now() - keptDeliveryMs)
    const gone = await db.writeStatement((tx) =>
      integrationStore(tx).forgetDeliveries(before, mostForgotten),
    )
    return gone < mostForgotten
  }
  return {
    name: 'forget old deliveries of integrations',
    everyMs: forgetEveryMs,
    run: () => runOnEach(walk(), forgetAll),
  }
}
