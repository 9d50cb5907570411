/** Sandboxes of this machine, by the worker's settings or by a harness's `settings.sandbox`. */
import type { DiskQuota } from '@steward/space/working-folder/quota.ts'
import { diskQuota } from '@steward/space/working-folder/quota.ts'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import { dockerSandboxes } from '@steward/sandbox/docker/docker.ts'
import { localSandboxes } from '@steward/sandbox/local.ts'
import { scratchOf } from '@steward/sandbox/scratch.ts'
import { sandboxProviders } from '@steward/sandbox/settings.ts'
import type { SandboxLimits, SandboxProvider } from '@steward/sandbox/sandbox.ts'
import { z } from 'zod'

export const SandboxSettings = z.object({
  provider: z.enum(sandboxProviders),
  socket: z.string().optional(),
  image: z.string(),
  memory_mb: z.number().int().positive(),
  processes: z.number().int().positive(),
  cpus: z.number().positive(),
  disk_mb: z.number().int().positive(),
  disk_files: z.number().int().positive(),
  free_mb: z.number().int().nonnegative(),
  free_files: z.number().int().nonnegative(),
})
export type SandboxSettings = z.infer<typeof SandboxSettings>

const mebibyte = 1 << 20

export function createSandboxProvider(
  { provider, socket, image }: SandboxSettings,
  report: (line: string) => void,
): SandboxProvider {
  if (provider === 'local') return localSandboxes()
  if (provider === 'bubblewrap') return bubblewrapSandboxes()
  return dockerSandboxes({ name: provider, socket, image, report })
}

export const toSandboxLimits = ({
  memory_mb,
  processes,
  cpus,
  disk_mb,
}: SandboxSettings): SandboxLimits => ({
  memory: memory_mb * mebibyte,
  processes,
  cpus,
  scratch: scratchOf(memory_mb * mebibyte),
  file: disk_mb * mebibyte,
})

/** Disk limits of sandboxes whose sessions lie on the disk of the folder. */
export const createDiskQuota = (
  { disk_mb, disk_files, free_mb, free_files }: SandboxSettings,
  folder: string,
  report: (message: string, details: Record<string, unknown>) => void,
): DiskQuota =>
  diskQuota({
    folder,
    beside: [],
    report,
    session: { bytes: disk_mb * mebibyte, files: disk_files },
    floor: { bytes: free_mb * mebibyte, files: free_files },
  })
