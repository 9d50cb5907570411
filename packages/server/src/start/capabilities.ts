/** The jobs of capabilities, which use sessions only as clients. */
import { deploymentJob } from '../capabilities/deployments/job.ts'
import { driveDream } from '../capabilities/dreams/drive-dream.ts'
import { dreamJob } from '../capabilities/dreams/job.ts'
import { driveRun } from '../capabilities/evals/drive-run.ts'
import type { EvalDeps } from '../capabilities/evals/end-trial.ts'
import { evalJob } from '../capabilities/evals/job.ts'
import { integrationJobs } from '../capabilities/integrations/jobs.ts'
import type { OpenIntegrations } from '../capabilities/integrations/open.ts'
import { personRemovalJob } from '../capabilities/people-data/job.ts'
import { retentionJob } from '../capabilities/retention/job.ts'
import type { Config } from '../ground/config/config.ts'
import type { Job } from '../ground/core/time/jobs.ts'

export const capabilityJobs = (
  { files, retentionDays }: Config,
  deps: EvalDeps & OpenIntegrations,
): Job[] => [
  deploymentJob(deps),
  evalJob({ ...deps, drive: (ref, signal) => driveRun(deps, ref, signal) }),
  dreamJob({ ...deps, drive: (context) => driveDream(deps, context) }),
  personRemovalJob(deps),
  retentionJob({ ...deps, retentionDays }),
  ...integrationJobs({ ...deps, files }),
]
