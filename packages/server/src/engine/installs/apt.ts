/**
 * Installs system packages for a sandbox. An ordinary user resolves them against the system, fetches them with apt's
 * own checks, and unpacks them into a folder that sandboxes mount over their system. Maintainer scripts run without
 * privileges: only the alternatives that they register take effect. The cache of shared libraries is rebuilt.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sources } from './sources.ts'
import { aptSources } from './sources.ts'

export const systemPath = '/mnt/system'
const folder = '/workspace/apt'

const settings = `Dir "${folder}/";
Dir::State "state";
Dir::State::status "${folder}/status";
Dir::Cache "cache";
Dir::Etc "etc";
Dir::Log "log";
APT::Sandbox::User "";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "2";
`

/** The reason why no system packages can be added to this system; undefined when they can. */
export function refuseApt(root: string | undefined): string | undefined {
  if (root === undefined)
    return 'the sandboxes of this server get their system from an image, and no packages can be mounted over it'
  const missing = ['usr/bin/apt-get', 'usr/bin/dpkg-deb', 'var/lib/dpkg/status'].find(
    (path) => !existsSync(join(root, path)),
  )
  return missing && `the system of the sandbox is not Debian's or Ubuntu's: it has no /${missing}`
}

/** The files of the system that apt needs in the builder, by path. */
export async function aptFiles(root: string, sources: Sources): Promise<Record<string, string>> {
  const release = await readFile(join(root, 'etc/os-release'), 'utf8').catch(() => '')
  return {
    [`${folder}/apt.conf`]: settings,
    [`${folder}/etc/sources.list`]: aptSources(release, sources),
    [`${folder}/status`]: await readFile(join(root, 'var/lib/dpkg/status'), 'utf8'),
    [librarySettings]: await libraryFolders(root),
  }
}

export function aptScript(names: readonly string[]): string {
  const own = [
    'state/lists/partial',
    'cache/archives/partial',
    'log',
    'etc/apt.conf.d',
    'etc/preferences.d',
  ]
  const merged = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']
  return `set -e
export APT_CONFIG=${folder}/apt.conf
mkdir -p "$HOME" "$TMPDIR" ${own.map((each) => `${folder}/${each}`).join(' ')}
apt-get update -q
apt-get install -q -y --download-only --no-install-recommends -- ${names.join(' ')}
mkdir -p ${systemPath}/usr ${systemPath}/etc ${folder}/control
for name in ${merged.join(' ')}; do ln -sfn usr/$name ${systemPath}/$name; mkdir -p ${systemPath}/usr/$name; done
for package in ${folder}/cache/archives/*.deb; do
  [ -e "$package" ] || continue
  echo "unpacking $(basename "$package")"
  dpkg-deb -e "$package" ${folder}/control/"$(basename "$package")"
  dpkg-deb --fsys-tarfile "$package" | tar -x -C ${systemPath} --keep-directory-symlink --no-same-owner
done
cd ${systemPath}/usr && rmdir --ignore-fail-on-non-empty ${merged.join(' ')}`
}

const librarySettings = '/workspace/ld.so.conf'
const [stubs, made] = [`${folder}/stubs`, `${folder}/made`]
/** Programs that a maintainer script may call; the builder replaces them by stubs that do nothing. */
const idle = [
  ...['adduser', 'addgroup', 'useradd', 'groupadd', 'chown', 'chgrp', 'dpkg-statoverride'],
  ...['deb-systemd-helper', 'deb-systemd-invoke', 'systemctl', 'invoke-rc.d', 'update-rc.d'],
  ...['dpkg-trigger', 'dpkg-maintscript-helper', 'ldconfig', 'py3compile', 'ucf', 'ucfr'],
]

/**
 * Runs in a sandbox that has the packages. Collects the links and caches that their scripts would create, in a folder.
 */
export const setUpScript = `mkdir -p ${stubs} ${made}/etc
for name in ${idle.join(' ')}; do printf '#!/bin/sh\n' >${stubs}/$name; done
cat >${stubs}/update-alternatives <<'END'
#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    --install|--slave)
      to=${made}$2
      mkdir -p "$(dirname "$to")"
      if [ -e "$4" ] && [ ! -e "$2" ] && [ ! -L "$to" ]; then ln -s "$4" "$to"; fi
      shift 4 ;;
    *) shift ;;
  esac
done
END
chmod +x ${stubs}/*
for script in ${folder}/control/*/postinst; do
  [ -e "$script" ] || continue
  DEBIAN_HAS_FRONTEND=1 PATH=${stubs}:$PATH timeout -k 1 20 "$script" configure '' </dev/null >/dev/null 2>&1
done
cat /etc/ld.so.conf.d/*.conf >>${librarySettings} 2>/dev/null
ls -d /usr/local/lib /usr/local/lib/*-linux-gnu* /usr/lib/*-linux-gnu* >>${librarySettings} 2>/dev/null
ldconfig -X -f ${librarySettings} -C ${made}/etc/ld.so.cache`

/** Runs in a sandbox without the packages mounted, so that no file changes under a running system. */
export const takeScript = `cp -a -n ${made}/. ${systemPath}/`

async function libraryFolders(root: string): Promise<string> {
  const folder = join(root, 'etc/ld.so.conf.d')
  const names = await readdir(folder).catch(() => [])
  const texts = names
    .filter((name) => name.endsWith('.conf'))
    .toSorted()
    .map((name) => readFile(join(folder, name), 'utf8'))
  return `${(await Promise.all(texts)).join('\n')}\n`
}
