/** Every setting of the worker, as `--help` and docs/workers.md list them. */
export type Setting = { name: string; about: string; default?: string; form?: string }

export const settings: readonly Setting[] = [
  {
    name: 'WORKER_BASE_URL',
    about: 'where the service is; required',
    form: 'an http or https URL',
  },
  {
    name: 'WORKER_ENVIRONMENT_ID',
    about: 'the self_hosted environment whose sessions are taken; required',
    form: 'an environment id',
  },
  { name: 'WORKER_ENVIRONMENT_KEY', about: 'a key of that environment; required' },
  {
    name: 'WORKER_LANE',
    about:
      'openma_supervised: a harness that this worker starts, with the tools of the service; ama_worker: the official worker, inside the sandbox',
    default: 'openma_supervised',
    form: 'openma_supervised or ama_worker',
  },
  {
    name: 'WORKER_STRATEGY',
    about:
      'claim_then_acquire: claim, then start a sandbox; with ama_worker also poll_unacked_then_dispatch (the sandbox acknowledges) and acquire_then_session_poll (the sandbox claims)',
    default: 'claim_then_acquire',
    form: 'claim_then_acquire, poll_unacked_then_dispatch or acquire_then_session_poll',
  },
  {
    name: 'WORKER_HARNESS',
    about: 'another harness that speaks openma-harness-supervisor-v1, as a JSON list of words',
    form: 'a JSON list of strings',
  },
  {
    name: 'WORKER_SESSIONS',
    about: 'sessions that run at once',
    default: '8',
    form: '1 to 1000',
  },
  {
    name: 'WORKER_POLL_SECONDS',
    about: 'pause between polls that found nothing; 0 waits at the service all the time',
    default: '5',
    form: '0 to 3600',
  },
  {
    name: 'WORKER_WEBHOOK_PORT',
    about:
      'port at which the signed hints of queued work are taken, to poll at once; 0 takes a free one',
    form: 'a port',
  },
  {
    name: 'WORKER_WEBHOOK_HOST',
    about: 'address of that port',
    default: '127.0.0.1',
  },
  {
    name: 'WORKER_WEBHOOK_SIGNING_KEY',
    about: 'what hints are signed with: the secret of their endpoint; required with that port',
    form: 'a secret as the service shows it, whsec_ and base64',
  },
  {
    name: 'WORKER_LEASE_SECONDS',
    about: 'how long a claim outlives this worker, where this worker sends the heartbeats',
    default: '90',
    form: '10 to 300',
  },
  {
    name: 'WORKER_RESERVE_SECONDS',
    about: 'how long a sandbox may take to start before its item is given to another worker',
    default: '120',
    form: '5 to 3600',
  },
  {
    name: 'WORKER_IDLE_SECONDS',
    about: 'how long a sandbox is kept for a session that rests',
    default: '60',
    form: '1 to 86400',
  },
  {
    name: 'WORKER_STOP_SECONDS',
    about: 'how long calls may go on after SIGTERM before they are given up',
    default: '20',
    form: '1 to 3600',
  },
  {
    name: 'WORKER_DIR',
    about: 'folder of workspaces, which stay for the next message of their session',
    default: './worker-data',
  },
  {
    name: 'WORKER_KEEP_DAYS',
    about: 'how long the workspace of a session stays that is not used',
    default: '7',
    form: '1 to 3650',
  },
  {
    name: 'WORKER_EGRESS',
    about:
      'what sandboxes reach through the service: session, what their session may; service, nothing else than the service itself; by default session with openma_supervised and service with ama_worker',
    form: 'session or service',
  },
  {
    name: 'SANDBOX_PROVIDER',
    about: 'where commands run; `local` isolates nothing and is for trials',
    default: 'bubblewrap',
    form: 'bubblewrap, docker, podman or local',
  },
  {
    name: 'SANDBOX_SOCKET',
    about: 'unix socket of the container engine; by default the usual one',
  },
  {
    name: 'SANDBOX_IMAGE',
    about:
      'image that docker and podman start; it has a /bin/bash, and for ama_worker Node 22 or later',
    default: 'docker.io/library/node:24-bookworm',
  },
  {
    name: 'SANDBOX_MEMORY_MB',
    about: 'memory of one sandbox',
    default: '2048',
    form: '64 or more',
  },
  {
    name: 'SANDBOX_PROCESSES',
    about: 'processes of one sandbox',
    default: '512',
    form: '16 or more',
  },
  { name: 'SANDBOX_CPUS', about: 'cores of one sandbox', default: '2', form: '0.1 or more' },
  {
    name: 'SANDBOX_DISK_MB',
    about:
      'disk of one session: its workspace, outputs, /mnt/user and memory stores; also the largest single file',
    default: '10240',
    form: '1 to 1048576',
  },
  {
    name: 'SANDBOX_DISK_FILES',
    about: 'files and folders of one session',
    default: '1000000',
    form: '100 or more',
  },
  {
    name: 'STORE_FREE_MB',
    about: 'where less is free on the disk of WORKER_DIR, no sandbox starts',
    default: '1024',
    form: '0 or more',
  },
  {
    name: 'STORE_FREE_FILES',
    about: 'the same for files and folders that the disk has room for',
    default: '10000',
    form: '0 or more',
  },
]
