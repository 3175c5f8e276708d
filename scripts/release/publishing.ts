/**
 * Returns the commands by which a person publishes the packages of a dry run, in their order. Words in angle brackets
 * are chosen by this person.
 * @param folder where the dry run wrote it
 * @param made the files that it wrote there; null before it has run
 */
export function publishingCommands(version: string, folder: string, made: readonly string[] | null): string {
  const files = (...names: readonly string[]) =>
    names.filter((name) => made?.includes(name) ?? true).map((name) => `${folder}/${name}`);
  const npm = ['client', 'live', ''].map((name) => ['fatoura', name, `${version}.tgz`].filter(Boolean).join('-'));
  const python = files(`fatoura-${version}.tar.gz`, `fatoura-${version}-py3-none-any.whl`);
  return [
    '# First: give the version its heading and day in CHANGELOG.md, and commit it with schema.published.graphql,',
    '# openapi.published.json and the file of the element in clients/live/releases',
    'npm run schema:publish && npm run live:publish',
    '# Of this commit',
    'npm run check && npm test',
    `npm run release -- --dry-run --output ${folder}`,
    `git tag --sign v${version} && git push <remote> v${version}`,
    `(cd ${folder} && sha256sum --check SHA256SUMS)`,
    '# npm (packages with a scope are private unless --access public is given)',
    ...files(...npm).map((file) => `npm publish ${file}`),
    ...(python.length > 0
      ? ['# PyPI', `python3 -m twine upload ${python.join(' ')}`]
      : ['# PyPI: nothing, because the dry run made no package for Python']),
    '# Composer, which reads a repository with composer.json in its root',
    'git subtree split --prefix clients/php --branch client-php',
    `git push <repository for PHP> client-php:main client-php:refs/tags/v${version}`,
    '# Maven',
    'mvn --file clients/java/pom.xml deploy -DaltDeploymentRepository=<id>::<address>',
    '# Go, which reads the tag, with the tests',
    `git tag --sign clients/go/v${version} && git push <remote> clients/go/v${version}`,
  ].join('\n');
}

/** Returns the text of `--help`. Its parameters are those of `publishingCommands`. */
export function help(version: string, folder: string, made: readonly string[] | null): string {
  return `usage: npm run release -- --dry-run [--output FOLDER]

Checks that the tree is clean, that all packages of clients/ have the version of package.json (${version}), and that
CHANGELOG.md has an entry for it. Makes the packages of the commit in FOLDER (by default ${folder}), with
schema.graphql, openapi.json and SHA256SUMS, and lists what each holds. Fails if a package holds tests, secrets or paths
of a machine, or lacks its README, version or licence. Uploads nothing.

Exit codes: 0 all packages are made; 1 there are problems; 2 wrong usage; 3 a package is left out, because a tool that
makes it is missing here. The commands below name what the last dry run into this folder has made.

There is nothing but the dry run: publishing is done by a person, with these commands.

${publishingCommands(version, folder, made)}
`;
}
