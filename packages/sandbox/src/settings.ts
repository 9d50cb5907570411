/** Settings of both server and worker, because both start sandboxes. */
import { choice, decimal, mebibyte, text, wholeNumber } from '@steward/base/settings/kinds.ts'
import { settingsSection, setting } from '@steward/base/settings/setting.ts'

export const sandboxProviders = ['bubblewrap', 'docker', 'podman', 'local'] as const

/** `more`: what further providers are. */
const providerOf = <const Provider extends string>(providers: readonly Provider[], more: string) =>
  setting('SANDBOX_PROVIDER', choice(providers), {
    default: 'bubblewrap' as Provider,
    about: 'what runs the commands of sessions; `local` isolates nothing and is for trials',
    more: `\`docker\` and \`podman\` start a container for each session${more}`,
  })

/** A server may leave all sandboxes to workers. */
export const serverProvider = providerOf(
  [...sandboxProviders, 'none'],
  '. `none`: this server starts no sandboxes, and sessions run on [workers](workers.md) alone',
)

export const sandboxSettings = settingsSection('Sandboxes', {
  provider: providerOf(sandboxProviders, ''),
  socket: setting('SANDBOX_SOCKET', text, {
    defaultAbout: "the engine's usual one",
    about: 'unix socket of Docker or Podman on this machine',
    more: 'Docker: `/run/docker.sock`. Podman: `/run/podman/podman.sock`, or `/run/user/UID/podman/podman.sock` for a program that is an ordinary user',
  }),
  image: setting('SANDBOX_IMAGE', text, {
    default: 'docker.io/library/node:24-bookworm',
    about: 'image that `docker` and `podman` start where an environment has no `base_image`',
    more: 'The image needs `/bin/bash`, and for `WORKER_LANE=ama_worker` Node 22 or later',
  }),
  memory: setting('SANDBOX_MEMORY_MB', wholeNumber(64, 1_048_576, mebibyte), {
    default: '2048',
    about: 'memory of one sandbox, its tmpfs included, in MiB',
  }),
  processes: setting('SANDBOX_PROCESSES', wholeNumber(16, 100_000), {
    default: '512',
    about: 'processes of one sandbox',
  }),
  cpus: setting('SANDBOX_CPUS', decimal(0.1, 1024), {
    default: '2',
    about: 'cores of one sandbox, fractions allowed',
  }),
})

export const diskSettings = settingsSection('Disk', {
  /** Limits of one session. */
  session: {
    bytes: setting('SANDBOX_DISK_MB', wholeNumber(1, 1_048_576, mebibyte), {
      default: '10240',
      about:
        'disk of one session in MiB: its working folder, outputs, `/mnt/user` and memory stores',
      more: 'No file of the session can be larger. See [What the sandbox promises](sandboxes.md#what-the-sandbox-promises)',
    }),
    files: setting('SANDBOX_DISK_FILES', wholeNumber(100, 1e9), {
      default: '1000000',
      about: 'files and folders of one session',
    }),
  },
  /** Minimum of free space on the program's disks. */
  floor: {
    bytes: setting('STORE_FREE_MB', wholeNumber(0, 1e9, mebibyte), {
      default: '1024',
      about: 'MiB that stay free: with less, no sandbox starts and the server takes no upload',
      more: 'The server looks at the disks of `DATA_DIR`, `SANDBOX_DIR` and the folder of blobs, the worker at the disk of `WORKER_DIR`',
    }),
    files: setting('STORE_FREE_FILES', wholeNumber(0, 1e9), {
      default: '10000',
      about: 'files and folders that the disk keeps room for, with the effect of STORE_FREE_MB',
    }),
  },
})
