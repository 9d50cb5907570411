/** The periodic jobs of a process. They start and stop together. */
import type { BlobKeeping } from '../ground/blobs/blob-keeping.ts'
import type { Config } from '../ground/config/config.ts'
import type { Job, RunningJobs } from '../ground/core/time/jobs.ts'
import { startJobs } from '../ground/core/time/jobs.ts'
import { restJob } from '../ground/core/time/rest.ts'
import type { OpenAnswers } from '../ground/http/open-answers.ts'
import type { Ground } from '../ground/ground.ts'
import { checkpointJob } from '../resources/checkpoints/job.ts'
import { fileJob } from '../resources/files/job.ts'
import { memoryJob } from '../resources/memory-stores/job.ts'
import { sessionJob } from '../sessions/job.ts'
import { headJob } from '../sessions/log/lookout.ts'
import { wakeupJob } from '../sessions/wakeup-job.ts'
import { stdioJob } from '../sessions/stdio-servers/job.ts'
import { workJobs } from '../sessions/work/job.ts'
import { endWithKeysJob } from '../tenants/api-keys/end-answers.ts'
import { endWithTokensJob } from '../tenants/people/identities/end-answers.ts'
import type { Identities } from '../tenants/people/identities/identities.ts'
import { endWithSignInsJob, expiredSignInsJob } from '../tenants/people/jobs.ts'
import { expiredLoginsJob } from '../tenants/signin/oauth/jobs.ts'
import { usageJob } from '../tenants/usage/job.ts'
import type { AuditKeys } from '../tenants/audit/heads.ts'
import { auditJobs } from '../tenants/audit/job.ts'

/** `others`: the jobs of parts that are opened elsewhere. */
export const startServerJobs = (
  { work, checkpoints: kept, retention }: Config,
  deps: Ground & {
    keeping: BlobKeeping
    auditKeys: AuditKeys
    answers: OpenAnswers
    identities: Identities
  },
  others: readonly Job[],
): RunningJobs =>
  startJobs(
    [
      endWithKeysJob(deps),
      endWithSignInsJob(deps),
      endWithTokensJob(deps),
      expiredSignInsJob(deps),
      expiredLoginsJob(deps),
      fileJob(deps),
      memoryJob(deps),
      ...workJobs({ ...deps, ...work }),
      stdioJob(deps),
      checkpointJob({ ...deps, ...kept }),
      sessionJob({ ...deps, ...retention }),
      wakeupJob(deps),
      headJob,
      ...auditJobs({ ...deps, ...retention, keys: deps.auditKeys }),
      usageJob({ ...deps, ...retention }),
      restJob(),
      ...others,
    ],
    deps,
  )
