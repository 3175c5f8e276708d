import { CommandError } from '../errors.ts';
import type { Command } from './command.ts';

/** What every server that is not Atlas answers to the commands and the stage for search indexes. */
export function searchNotEnabled(): CommandError {
  return new CommandError(
    'SearchNotEnabled',
    'Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires additional configuration: they work on Atlas only.',
  );
}

const unavailable: Command = {
  options: ['indexes', 'id', 'name', 'definition', 'type'],
  run: () => {
    throw searchNotEnabled();
  },
};

export const createSearchIndexes: Command = unavailable;
export const updateSearchIndex: Command = unavailable;
export const dropSearchIndex: Command = unavailable;
