/** The files of a version, SKILL.md first, and the text of one. */
import { useQuery } from '@tanstack/react-query'
import { Button } from '../../components/button.tsx'
import { ListAndOne, Problem, Row, Stack, ToolLine } from '../../components/layout.tsx'
import { PlainText } from '../../components/plain-text.tsx'
import { RecordHead } from '../../components/record-head.tsx'
import { Missing } from '../../components/record-page.tsx'
import { SmallSelect } from '../../components/select.tsx'
import { Tree, TreeLeaf } from '../../components/tree.tsx'
import type { SkillVersion } from '../../lib/api/types.ts'
import { formatCount } from '../../lib/format/numbers.ts'
import { saveBlob } from '../../lib/save-blob.ts'
import { skillFileQuery, useArchiveDownload } from './skills.ts'
import { filesFirst, versionName } from './versions.ts'
import { skillWords as own } from './words.ts'

type SkillFilesProps = {
  /** The newest first. */
  versions: readonly SkillVersion[]
  version: string | undefined
  file: string | undefined
  onVersion: (version: string) => void
  onFile: (file: string) => void
}

export function SkillFiles({ versions, version, file, onVersion, onFile }: SkillFilesProps) {
  const download = useArchiveDownload()
  const shown = versions.find((each) => each.version === version) ?? versions[0]
  if (!shown) return null
  const names = filesFirst(shown)
  const name = names.find((each) => each === file) ?? names[0]
  return (
    <>
      <ToolLine>
        <SmallSelect
          label={own.version}
          choices={versions.map((each, at) => ({
            value: each.version,
            label: versionName(each),
            ...(at === 0 && { beside: own.latest }),
          }))}
          value={shown.version}
          onChange={onVersion}
        />
        <Button
          kind="plain"
          isBusy={download.isPending}
          onClick={() =>
            download.mutate(shown, {
              onSuccess: (blob) => saveBlob(blob, `${shown.name}-${shown.version}.zip`),
            })
          }
        >
          {own.downloadAll}
        </Button>
        <Problem text={download.error?.message} />
      </ToolLine>
      <ListAndOne
        list={
          <Tree label={own.files}>
            {names.map((each) => (
              <TreeLeaf
                key={each}
                name={each}
                depth={0}
                isChosen={each === name}
                onChoose={() => onFile(each)}
              />
            ))}
          </Tree>
        }
        one={name !== undefined && <OneFile version={shown} name={name} />}
      />
    </>
  )
}

function OneFile({ version, name }: { version: SkillVersion; name: string }) {
  const { data, error, refetch } = useQuery(skillFileQuery(version, name))
  if (!data) return <Missing error={error} refetch={refetch} />
  const save = () => saveBlob(data.blob, name.split('/').at(-1) ?? name)
  return (
    <Stack>
      <RecordHead
        title={name}
        actions={
          <Button kind="plain" onClick={save}>
            {own.download}
          </Button>
        }
      />
      {data.text === null ? (
        <Row>{own.binary(formatCount(data.blob.size))}</Row>
      ) : (
        <PlainText label={own.text} text={data.text} />
      )}
    </Stack>
  )
}
