/** The jobs of capabilities, which use sessions only as clients. */
import { deploymentJob } from '../capabilities/deployments/job.ts'
import type { RunDeps } from '../capabilities/deployments/run-deployment.ts'
import { driveDream } from '../capabilities/dreams/drive-dream.ts'
import { dreamJob } from '../capabilities/dreams/job.ts'
import type { DreamDeps } from '../capabilities/dreams/drive-dream.ts'
import { integrationJobs } from '../capabilities/integrations/jobs.ts'
import { driveRun } from '../capabilities/evals/drive-run.ts'
import { evalJob } from '../capabilities/evals/job.ts'
import type { EvalDeps } from '../capabilities/evals/drive-run.ts'
import type { Config } from '../ground/config/config.ts'
import type { Job } from '../ground/core/jobs.ts'
import type { Databases } from '../ground/database/database.ts'

type CapabilityDeps = Omit<
  EvalDeps & RunDeps & DreamDeps & Parameters<typeof integrationJobs>[0],
  'refuseImage' | 'refusePackages' | 'workerInputs' | 'files'
> & {
  databases: Databases
  provider: { refuseImage: EvalDeps['refuseImage'] }
  packages: { refuse: EvalDeps['refusePackages'] }
}

export function capabilityJobs(
  { workerInputs, files }: Pick<Config, 'workerInputs' | 'files'>,
  { provider, packages, ...deps }: CapabilityDeps,
): Job[] {
  const refusals = {
    refuseImage: (reference: string) => provider.refuseImage(reference),
    refusePackages: packages.refuse,
    workerInputs,
  }
  const given = { ...deps, ...refusals, files }
  return [
    deploymentJob(given),
    evalJob({ ...given, drive: (ref, signal) => driveRun(given, ref, signal) }),
    dreamJob({ ...given, drive: (context) => driveDream(given, context) }),
    ...integrationJobs(given),
  ]
}
