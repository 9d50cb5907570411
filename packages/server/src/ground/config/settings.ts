/** Every setting, as `--help` and docs/operations.md list them. `later`: specified, and refused for now. */
export type Setting = { name: string; about: string; default?: string; form?: string; later?: true }

export const settings: readonly Setting[] = [
  {
    name: 'PLATFORM_ROOT_SECRET',
    about: 'seals keys and tokens at rest; required',
    form: '16 or more characters',
  },
  {
    name: 'PLATFORM_ROOT_SECRET_PREVIOUS',
    about: 'a second root secret that opens and never seals, while one gives way to another',
    form: '16 or more characters',
  },
  { name: 'PORT', about: 'port to listen on; 0 takes a free one', default: '8787', form: 'a port' },
  { name: 'HOST', about: 'address to listen on', default: '127.0.0.1' },
  {
    name: 'DATA_DIR',
    about: 'folder of the embedded database and of workspaces',
    default: './data',
  },
  { name: 'API_KEY', about: 'initial workspace-admin key; kept as a hash' },
  {
    name: 'DATABASE_URL',
    about: 'Postgres to use in place of the embedded database',
    form: 'a postgres:// URL',
  },
  {
    name: 'DATABASE_CONNECT_SECONDS',
    about: 'how long a connection to Postgres may take, and the wait for one that is free',
    default: '10',
    form: '1 to 600',
  },
  {
    name: 'DATABASE_STATEMENT_SECONDS',
    about: 'how long a statement on Postgres may take; migrations have no limit',
    default: '15',
    form: '1 to 600',
  },
  {
    name: 'STORE_BACKENDS',
    about:
      'where blobs are kept, as JSON: {"blobs": {"type": "disk", "dir": …}} or {"blobs": {"type": "s3", "endpoint": …, "bucket": …, "region": …, "access_key_id": …, "secret_access_key": …}}; by default blobs below DATA_DIR; with "outputs": false nothing that sessions leave is published',
  },
  {
    name: 'FILES_LARGEST_MB',
    about: 'the largest file that may be uploaded',
    default: '500',
    form: '1 to 51200',
  },
  {
    name: 'FILES_WORKSPACE_MB',
    about: 'what the files of one workspace may take together',
    default: '102400',
    form: '1 or more',
  },
  {
    name: 'FILES_UPLOADS_DOWNLOADABLE',
    about: 'whether what is uploaded from now on may be downloaded again',
    default: 'true',
    form: 'true or false',
  },
  {
    name: 'EGRESS_ALLOW_PRIVATE',
    default: '',
    about:
      "private address ranges that the operator's own endpoints may lie in (models, search, registries, bucket, hint), e.g. 127.0.0.0/8",
    form: 'a list of address ranges',
  },
  {
    name: 'EGRESS_TENANT_TARGETS',
    default: '',
    about:
      'private targets that workspaces and their sandboxes may reach, as host:port or range:port, e.g. git.internal:443,10.1.0.0/16:8080,[fd00::/8]:*',
    form: 'a list of host:port or range:port',
  },
  {
    name: 'EGRESS_PROFILE',
    default: 'required',
    form: 'required, best_effort or disabled',
    about:
      'credentials for what a sandbox calls: `required` only where it has no way around the gate, `best_effort` also where it has, `disabled` never',
  },
  {
    name: 'REPOSITORY_HOSTS',
    default: '',
    about:
      'hosts that repositories of sessions are cloned from, e.g. github.com,*.example.com; by default any that may be dialled',
    form: 'a list of host names',
  },
  {
    name: 'REPOSITORY_MB',
    about: 'what is fetched of one repository at most, packed',
    default: '2048',
    form: '1 or more',
  },
  {
    name: 'PACKAGE_REGISTRIES',
    default: '',
    form: 'a list of manager=URL for apt, cargo, gem, go, npm or pip, without credentials',
    about:
      'registries that packages of environments come from in place of the public ones, e.g. npm=https://npm.example.com/,pip=https://pypi.example.com/simple',
  },
  {
    name: 'PACKAGE_BUILD_MINUTES',
    about: 'how long the packages of an environment may take to install',
    default: '15',
    form: '1 to 1440',
  },
  {
    name: 'PACKAGE_LAYER_MB',
    about:
      'what the packages of an environment may take on disk, with what is needed to build them',
    default: '4096',
    form: '1 or more',
  },
  {
    name: 'PACKAGE_LAYER_DAYS',
    about: 'installed packages that no session has used for so long are removed',
    default: '14',
    form: '1 to 3650',
  },
  {
    name: 'WEB_SEARCH_API_KEY',
    about: 'key of the search provider (Tavily) behind web_search; without it the tool says so',
  },
  {
    name: 'WEB_SEARCH_BASE_URL',
    about: 'another endpoint of the same search interface',
    default: 'https://api.tavily.com',
    form: 'an http URL',
  },
  {
    name: 'ANTHROPIC_API_KEY',
    about: 'key for Anthropic models where a workspace has no model card',
  },
  { name: 'ANTHROPIC_BASE_URL', about: 'another endpoint of the same wire', form: 'an http URL' },
  { name: 'OPENAI_API_KEY', about: 'key for OpenAI models where a workspace has no model card' },
  { name: 'OPENAI_BASE_URL', about: 'another endpoint of the same wire', form: 'an http URL' },
  { name: 'GEMINI_API_KEY', about: 'key for Google models where a workspace has no model card' },
  { name: 'GEMINI_BASE_URL', about: 'another endpoint of the same wire', form: 'an http URL' },
  {
    name: 'SANDBOX_PROVIDER',
    default: 'bubblewrap',
    form: 'bubblewrap, docker, podman or local',
    about: 'where commands run; `local` isolates nothing and is for trials',
  },
  {
    name: 'SANDBOX_SOCKET',
    about:
      'unix socket of the container engine, on this machine; by default /run/docker.sock, and for podman /run/podman/podman.sock or the one of the ordinary user that the server is',
  },
  {
    name: 'SANDBOX_IMAGE',
    default: 'docker.io/library/node:24-bookworm',
    about:
      'image that docker and podman start where an environment has no base_image; it has a /bin/bash',
  },
  {
    name: 'SANDBOX_IMAGES',
    default: '',
    form: 'a list of images',
    about:
      'images that a base_image may name with docker and podman, by comma; one that ends with * is the beginning of some. Without it any that the engine has or can fetch, from wherever it reaches',
  },
  {
    name: 'SANDBOX_ROOTS',
    default: '',
    form: 'a list of name=/folder',
    about:
      'unpacked root file systems that bubblewrap starts sandboxes from, by the names that base_image has for them, e.g. debian-13=/srv/roots/trixie',
  },
  {
    name: 'SANDBOX_DIR',
    about: 'folder of workspaces; by default sandboxes below DATA_DIR',
  },
  {
    name: 'SANDBOX_IDLE_SECONDS',
    about: 'a sandbox unused this long is stopped; its workspace stays',
    default: '300',
    form: '1 to 86400',
  },
  {
    name: 'PUBLIC_URL',
    about: 'where workers reach this service; by default where they have just reached it',
  },
  {
    name: 'WORK_IDLE_SECONDS',
    about: 'a worker whose session has rested this long is told to end',
    default: '120',
    form: '1 to 86400',
  },
  {
    name: 'WORK_UNCLAIMED_SECONDS',
    about:
      'a session whose work no worker has taken for this long, or has left for this long, is told so',
    default: '60',
    form: '1 to 86400',
  },
  {
    name: 'WORKER_INPUTS',
    about:
      'what the workers of self_hosted environments lay out besides skills and memory stores, e.g. files,repositories; sessions with anything else are refused',
    form: 'a list of files and repositories',
  },
  {
    name: 'SESSION_DELETED_HOURS',
    about: 'how long after its deletion all that is stored of a session is removed',
    default: '24',
    form: '1 to 87600',
  },
  {
    name: 'AUDIT_DAYS',
    about: 'how long uses and changes of credentials are kept',
    default: '365',
    form: '1 to 36500',
  },
  {
    name: 'CHECKPOINTS',
    about:
      'when workspaces are put aside in the blob store: idle (at the end of each turn that may have changed them, which machines without a common SANDBOX_DIR need), stop (with their sandbox) or off; by default idle with DATABASE_URL, else stop',
    form: 'idle, stop or off',
  },
  {
    name: 'CHECKPOINT_LARGEST_MB',
    about: 'the largest archive of a workspace, compressed',
    default: '10240',
    form: '1 to 1048576',
  },
  {
    name: 'CHECKPOINT_DAYS',
    about: 'how long the checkpoint of a session is kept that is not taken anew',
    default: '90',
    form: '1 to 36500',
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
  {
    name: 'SANDBOX_LIMITS',
    about: 'whether the server starts where memory and processes of a sandbox are not limited',
    default: 'available',
    form: 'available or required',
  },
  {
    name: 'SANDBOX_USERS',
    about: 'whether each sandbox has a user of the host of its own',
    default: 'available',
    form: 'available, required or shared',
  },
  {
    name: 'SANDBOX_DISK_MB',
    about: 'disk of one session: its workspace, outputs and memory',
    default: '10240',
    form: '1 to 1048576',
  },
  {
    name: 'SANDBOX_DISK_FILES',
    about: 'files and folders of one session',
    default: '1000000',
    form: '100 to 1000000000',
  },
  {
    name: 'STORE_FREE_MB',
    about: 'where less is free, no sandbox starts and nothing is uploaded',
    default: '1024',
    form: '0 to 1000000000',
  },
  {
    name: 'STORE_FREE_FILES',
    about: 'the same for files and folders that the disk has room for',
    default: '10000',
    form: '0 to 1000000000',
  },
  {
    name: 'SANDBOX_CPUS',
    about: 'cores of one sandbox, fractions allowed',
    default: '2',
    form: '0.1 or more',
  },
  {
    name: 'SANDBOX_COUNT',
    about: 'sandboxes that one process holds at once; a turn that needs another one waits',
    default: '1000',
    form: '1 or more',
  },
  {
    name: 'RUNNER_SESSIONS',
    about: 'sessions that one process runs at once; others wait',
    default: '1000',
    form: '1 or more',
  },
  {
    name: 'RUNNER_STOP_SECONDS',
    about: 'how long the tool calls that run may take to end when the server is stopped',
    default: '20',
    form: '0 to 3600',
  },
  {
    name: 'WORKSPACE_SHARE',
    about:
      'percent of the running sessions, sandboxes, streams and connections of sandboxes that one workspace may hold while others hold none; 100 keeps nothing free for others',
    default: '80',
    form: '1 to 100',
  },
  {
    name: 'STREAM_COUNT',
    about:
      'event streams that one process holds open at once; by default half the files that it may open, and 50000 at most',
    form: '1 or more',
  },
  {
    name: 'EGRESS_CONNECTIONS',
    about:
      'connections that sandboxes hold to their gates in one process; by default an eighth of the files that it may open, and 16384 at most',
    form: '1 or more',
  },
  {
    name: 'STEWARD_OFFLINE_MODEL',
    about: 'whether the built-in model `offline` exists',
    default: 'true',
    form: 'true or false',
  },
  {
    name: 'MODEL_ANSWER_MINUTES',
    about: "how long one answer of a model may take, from the request to the answer's end",
    default: '60',
    form: '1 to 1440',
  },
  {
    name: 'STEWARD_OFFLINE_THINK_MS',
    about: 'how long the model `offline` thinks before it answers a message, in milliseconds',
    default: '250',
    form: '0 to 60000',
  },
  {
    name: 'STEWARD_LOG_LEVEL',
    about: 'least level that is logged',
    default: 'info',
    form: 'debug, info, warn or error',
  },
  {
    name: 'STEWARD_EMBEDDING_MODEL',
    about: 'what a memory store is shown to be embedded with when it names nothing itself',
    default: 'none',
  },
  {
    name: 'PLATFORM_MANAGED_AGENTS_WEBHOOK_URL',
    about: 'where a webhook goes when work is queued for the workers of an environment',
    form: 'an http URL',
  },
  {
    name: 'PLATFORM_MANAGED_AGENTS_WEBHOOK_SIGNING_KEY',
    about: 'signs it after Standard Webhooks: base64 of 24 to 64 bytes, whsec_ in front or not',
    form: 'base64 of 24 to 64 bytes, whsec_ in front or not',
  },
  {
    name: 'PLATFORM_MANAGED_AGENTS_ORGANIZATION_ID',
    about: 'organization_id of every webhook; by default the workspace is its own',
  },
  { name: 'PER_TENANT_DB_ENABLED', about: 'a database per workspace', later: true },
  { name: 'INTEGRATIONS_INTERNAL_SECRET', about: 'integrations', later: true },
  { name: 'INTEGRATIONS_PUBLIC_URL', about: 'integrations', later: true },
]
