//! The cells of a sheet, whatever the kind of file.

use std::fs::File;
use std::io::BufReader;

use calamine::{Data, Ods, Reader, SheetType, SheetVisible, Xlsb, Xlsx, open_workbook_from_rs};

use super::Content;
use super::grid::Grid;

type Source = BufReader<File>;

/// An opened spreadsheet.
pub(super) enum Workbook {
    Xlsx(Box<Xlsx<Source>>),
    Xlsb(Box<Xlsb<Source>>),
    Ods(Box<Ods<Source>>),
}

type Result<T> = std::result::Result<T, String>;

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Workbook {
    pub(super) fn open(content: &Content, file: File) -> Result<Self> {
        let file = BufReader::new(file);
        Ok(match content {
            Content::Xlsx => Self::Xlsx(Box::new(open_workbook_from_rs(file).map_err(said)?)),
            Content::Xlsb => Self::Xlsb(Box::new(open_workbook_from_rs(file).map_err(said)?)),
            Content::Ods => Self::Ods(Box::new(open_workbook_from_rs(file).map_err(said)?)),
        })
    }

    /// The names of the sheets that hold cells, and whether they can be seen.
    pub(super) fn sheets(&self) -> Vec<(String, bool)> {
        let all = match self {
            Self::Xlsx(workbook) => workbook.sheets_metadata(),
            Self::Xlsb(workbook) => workbook.sheets_metadata(),
            Self::Ods(workbook) => workbook.sheets_metadata(),
        };
        let holds_cells = all.iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
        holds_cells
            .map(|sheet| (sheet.name.clone(), sheet.visible == SheetVisible::Visible))
            .collect()
    }

    /// The cells of a sheet.
    pub(super) fn grid(&mut self, sheet: &str, decimal_comma: bool) -> Result<Grid> {
        let mut grid = Grid::new(decimal_comma);
        match self {
            // Cell by cell, since two cells at opposite corners would be a range of billions.
            Self::Xlsx(workbook) => {
                let mut cells = workbook.worksheet_cells_reader(sheet).map_err(said)?;
                while let Some(cell) = cells.next_cell().map_err(said)? {
                    grid.add(cell.get_position(), &Data::from(cell.get_value().clone()))?;
                }
            }
            Self::Xlsb(workbook) => {
                let mut cells = workbook.worksheet_cells_reader(sheet).map_err(said)?;
                while let Some(cell) = cells.next_cell().map_err(said)? {
                    grid.add(cell.get_position(), &Data::from(cell.get_value().clone()))?;
                }
            }
            Self::Ods(workbook) => {
                grid.add_range(&workbook.worksheet_range(sheet).map_err(said)?)?;
            }
        }
        grid.put_in_order();
        Ok(grid)
    }
}
