/** A secret that is shown once, within the command that uses it, and what came of it. */
import type { ReactNode } from 'react'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { SecretBox } from './secret-once.tsx'

type SecretCommandProps = {
  title: string
  command: string
  /** A part of the command. */
  secret: string
  /** Whether it was used since, as far as that is known. */
  children: ReactNode
  onDone: () => void
}

export function SecretCommand({ title, command, secret, children, onDone }: SecretCommandProps) {
  const [before = '', after = ''] = command.split(secret)
  return (
    <SecretBox
      title={title}
      beside={
        <span className="ml-auto">
          <CopyButton text={command} />
        </span>
      }
    >
      <pre
        tabIndex={0}
        aria-label={title}
        className="overflow-auto bg-n2 px-3.5 py-2.5 font-mono text-small leading-[1.7] whitespace-pre-wrap break-all text-n10 outline-offset-[-2px]"
      >
        {before}
        <mark className="rounded-sm bg-accent-quiet text-n11">{secret}</mark>
        {after}
      </pre>
      <footer className="flex flex-wrap items-center gap-x-2.5 gap-y-1 border-t px-3.5 py-2">
        <span role="status">{children}</span>
        <span className="min-w-0 text-small text-n9">{words.secret.hint}</span>
        <span className="ml-auto">
          <Button onClick={onDone}>{words.secret.done}</Button>
        </span>
      </footer>
    </SecretBox>
  )
}
