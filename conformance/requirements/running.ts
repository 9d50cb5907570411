// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const running = {
  'running/one-owner': { section: '9.1 Ownership and recovery', says: 'At most one process runs a session at any moment.' },
  'running/fenced': { section: '9.1 Ownership and recovery', says: 'A process that lost its session can append nothing more to it.' },
  'running/dead-process': { section: '9.1 Ownership and recovery', says: 'When a process dies, its sessions go on in another, or in the same one after its restart, without waiting for a lease to run out.' },
  'running/recovery/orphan-call': { section: '9.1 Ownership and recovery', says: 'A tool call without a result is closed by recovery with an error result that says so; a call of a tool that changes nothing (read, glob, grep, web tools, `schedule_wakeup`, `automations`) runs again.' },
  'running/recovery/interrupted-stream': { section: '9.1 Ownership and recovery', says: 'A stream that was cut off is announced by `session.warning`.' },
  'running/recovery/valid-history': { section: '9.1 Ownership and recovery', says: 'After recovery the history is valid for the next model call.' },
  'running/recovery/once': { section: '9.1 Ownership and recovery', says: 'A command whose result was kept is never run again.' },
  'running/recovery/nothing-lost': { section: '9.1 Ownership and recovery', says: 'No event that was acknowledged is lost.' },
  'running/recovery/given-up': { section: '9.1 Ownership and recovery', says: 'A turn whose process died six times in a row, with no event of the agent or the user kept between, is given up with an `unknown_error` and `retries_exhausted`. A death counts where the turn had begun a model request or a call in that life; 26 deaths before any of them give it up as well; a process that was stopped does not count. An evaluation counts as begun once its start is in the log, and where it waits for others to go on first, with the end of that wait. The messages behind it begin the next turn at once. After a second such turn in a row the session rests, and they are read with the next message. A turn of a child, or beside threads that work, is given up alone.' },
  'running/recovery/one-at-a-time': { section: '9.1 Ownership and recovery', says: 'Of the turns that a dead process left, those whose process died twice come last in a process, one at a time until each has kept an event of the agent or a minute is over: the workspaces in turn, and of each the session with the fewest events first. A turn that is interrupted while it waits does not go on.' },
  'running/stop/calls': { section: '9.1 Ownership and recovery', says: 'It begins no turn, model request or tool call any more; tool calls that run have `RUNNER_STOP_SECONDS` to end, and their results are kept.' },
  'running/stop/time': { section: '9.1 Ownership and recovery', says: 'Calls that run longer are cut off; the next run of the turn says so with a `session.warning` (`turn_handed_over`).' },
  'running/stop/handed-over': { section: '9.1 Ownership and recovery', says: 'Turns are given back: another process, or the next start, goes on with them at once.' },
  'running/stop/streams': { section: '9.1 Ownership and recovery', says: 'Event streams end as whole answers, so that clients connect again.' },
  'running/stop/ready': { section: '9.1 Ownership and recovery', says: 'It listens until its turns have been left. From the first moment on `GET /readyz` answers 503; `GET /healthz` answers as before.' },
  'running/stop/clean': { section: '9.1 Ownership and recovery', says: 'It ends with the exit code 0 also where a part of it could not be put away, for instance while the database is away; its log says which.' },
  'running/stop/second-signal': { section: '9.1 Ownership and recovery', says: 'A second signal ends the process at once.' },
  'running/doctor': { section: '9.1 Ownership and recovery', says: '`npm start -- doctor` looks at settings, database, root secret, clock, disks, bucket, bus, mail server, sandboxes, keys of model providers, clouds and gateways of models, the address to listen on and the limit of open files. It says of each whether a server could do its work here, and what to do where not; it ends with 1 where something failed. It changes nothing, and runs beside running servers.' },
  'running/error/overloaded': { section: '9.2 Model failures', says: '`model_overloaded_error` – the provider has no capacity' },
  'running/error/rate-limited': { section: '9.2 Model failures', says: '`model_rate_limited_error` – the provider limits the rate' },
  'running/error/request-failed': { section: '9.2 Model failures', says: '`model_request_failed_error` – the call failed in another way' },
  'running/error/billing': { section: '9.2 Model failures', says: '`billing_error` – the provider wants to be paid' },
  'running/error/compaction-limit': { section: '9.2 Model failures', says: '`compaction_limit_reached_error` – the provider refuses the conversation as too long, and it cannot be made shorter' },
  'running/error/unknown': { section: '9.2 Model failures', says: '`unknown_error` – anything else' },
  'running/error/retry-status': { section: '9.2 Model failures', says: '`retry_status` is `retrying` while the service goes on, `exhausted` when the turn is given up and the session idles with `retries_exhausted`, `terminal` when the session ends.' },
  'running/error/rescheduled': { section: '9.2 Model failures', says: 'Between attempts stands a `session.status_rescheduled`.' },
  'running/error/no-secret': { section: '9.2 Model failures', says: 'No message of an error carries a key or another secret.' },
} satisfies Record<string, Requirement>
