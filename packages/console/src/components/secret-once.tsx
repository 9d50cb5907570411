/** A secret that is shown once, in the command where it is used. */
import type { ReactNode } from 'react'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { Status } from './status.tsx'

type SecretOnceProps = {
  title: string
  secret: string
  /** A command that uses it, without the secret in a history of commands. */
  command?: string
  /** What is to be known of it. */
  children?: ReactNode
  /** Stands before the last button. */
  actions?: ReactNode
  onDone: () => void
}

export const SecretOnce = ({
  title,
  secret,
  command,
  children,
  actions,
  onDone,
}: SecretOnceProps) => (
  <SecretBox title={title} beside={<span className="text-small text-n9">{words.secret.hint}</span>}>
    <div className="flex flex-wrap items-center gap-3 bg-accent-quiet px-3.5 py-2.5">
      <code className="min-w-0 flex-1 font-mono break-all text-n11">{secret}</code>
      <CopyButton text={secret} label={words.secret.copy} />
    </div>
    <div
      className={`grid items-start gap-x-6 gap-y-3 px-3.5 py-3 ${command === undefined ? '' : 'wide:grid-cols-2'}`}
    >
      {command !== undefined && (
        <div className="grid min-w-0 gap-2">
          <span className="flex items-center text-small text-n9">
            <span className="flex-1">{words.secret.tryIt}</span>
            <CopyButton text={command} label={words.secret.copyCommand} />
          </span>
          <pre
            tabIndex={0}
            aria-label={words.secret.tryIt}
            className="overflow-auto rounded-base border border-n4 bg-n2 px-3 py-2 font-mono text-small leading-[1.6]"
          >
            {command}
          </pre>
        </div>
      )}
      <div className="grid min-w-0 gap-3 pt-1">
        {children}
        <div className="flex justify-end gap-2">
          {actions}
          <Button onClick={onDone}>{words.secret.done}</Button>
        </div>
      </div>
    </div>
  </SecretBox>
)

export const SecretBox = ({
  title,
  beside,
  children,
}: {
  title: string
  beside: ReactNode
  children: ReactNode
}) => (
  <section
    aria-label={title}
    className="min-w-0 overflow-hidden rounded-panel border border-accent"
  >
    <header className="flex min-h-10 flex-wrap items-center gap-x-2.5 border-b px-3.5 py-1">
      <h2 className="font-semibold text-n11">{title}</h2>
      <Status tone="asks">{words.secret.once}</Status>
      {beside}
    </header>
    {children}
  </section>
)
